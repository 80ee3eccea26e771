// One politica with its entity tag, so that nobody overwrites what they have not seen.

import { useEffect, useRef, useState } from 'preact/hooks'
import { askFully } from '../../api/client.ts'
import { HubError, HubUnreachable } from '../../api/hub-error.ts'
import { createMemory, dropOld, showOld } from '../../api/remembered.ts'
import { emptyPolitica, type Politica, type Target, toPolitica } from './describe-policy.ts'

const KEPT_MAX = 10
const AGAIN_MS = 2000

const memory = createMemory<SeenPolitica>(KEPT_MAX)

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
  const name = JSON.stringify(target)
  const [state, setState] = useState<{
    readonly seen?: SeenPolitica | undefined
    readonly error?: Error
  }>(() => ({ seen: memory.recall(name)?.value }))
  const { current: own } = useRef<{ seen?: SeenPolitica }>({})
  const reload = (): void => {
    askPolitica(target).then(
      (seen) => {
        own.seen = seen
        dropOld(own)
        setState({ seen })
      },
      (error: unknown) => setState((known) => ({ ...known, error: error as Error })),
    )
  }
  useEffect(() => {
    const known = memory.recall(name)
    if (known !== undefined) {
      own.seen = known.value
      showOld(own, known.atMs)
    }
    reload()
    return () => {
      const atMs = dropOld(own)
      if (own.seen !== undefined) memory.keep(name, { value: own.seen, atMs })
    }
  }, [name])
  useEffect(() => {
    if (!(state.error instanceof HubUnreachable)) return undefined
    const timer = setTimeout(reload, AGAIN_MS)
    return () => clearTimeout(timer)
  }, [state.error])
  return { seen: state.seen, error: state.error, reload }
}
