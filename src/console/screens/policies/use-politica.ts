// One politica with its entity tag, so that nobody overwrites what they have not seen.

import { useEffect, useState } from 'preact/hooks'
import { askFully } from '../../api/client.ts'
import { HubError } from '../../api/hub-error.ts'
import { emptyPolitica, type Politica, type Target, toPolitica } from './describe-policy.ts'

export interface SeenPolitica {
  readonly politica: Politica
  /** None while there is no such politica. */
  readonly etag: string | undefined
}

export async function askPolitica(target: Target): Promise<SeenPolitica> {
  try {
    const { body, etag } =
      target.kind === 'role'
        ? await askFully('showPolicy', { role: target.role, agentes: false })
        : await askFully('showSelectorPolicy', { nome: target.nome, agentes: false })
    return { politica: toPolitica(body), etag }
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'politica_not_found') throw error
    return { politica: emptyPolitica(target), etag: undefined }
  }
}

export function usePolitica(target: Target): {
  readonly seen: SeenPolitica | undefined
  readonly error: Error | undefined
  reload(): void
} {
  const [state, setState] = useState<{ readonly seen?: SeenPolitica; readonly error?: Error }>({})
  const reload = (): void => {
    askPolitica(target).then(
      (seen) => setState({ seen }),
      (error: unknown) => setState((known) => ({ ...known, error: error as Error })),
    )
  }
  useEffect(reload, [JSON.stringify(target)])
  return { seen: state.seen, error: state.error, reload }
}
