// A mistyped type of entries would make a webhook that never sends: the hub takes any, so the form asks the log. docs/protocol.md CLI-60.

import { useState } from 'preact/hooks'
import { isKnownEventType } from '../../../protocol/admin/known-event-types.ts'
import { isEventType } from '../../../protocol/identifiers.ts'
import { ask } from '../../api/client.ts'
import { HubError, HubUnreachable } from '../../api/hub-error.ts'

interface UnknownType {
  readonly isBusy: boolean
  readonly error: Error | undefined
  /** The first one that was found. */
  readonly unknown: string | undefined
  /** Whether all are known; false also when the hub did not answer. */
  areKnown(types: readonly string[]): Promise<boolean>
  forget(): void
}

const NOTHING = { isBusy: false, error: undefined, unknown: undefined }

export function useUnknownType(): UnknownType {
  const [state, setState] = useState<Pick<UnknownType, 'isBusy' | 'error' | 'unknown'>>(NOTHING)
  return {
    ...state,
    forget: () => setState(NOTHING),
    areKnown: async (types) => {
      setState({ ...NOTHING, isBusy: true })
      try {
        const unknown = await findUnknown(types)
        setState({ ...NOTHING, unknown })
        return unknown === undefined
      } catch (error) {
        if (!(error instanceof HubError || error instanceof HubUnreachable)) throw error
        setState({ ...NOTHING, error })
        return false
      }
    },
  }
}

async function findUnknown(types: readonly string[]): Promise<string | undefined> {
  for (const type of types) {
    // What is no type at all the hub refuses itself.
    if (!isEventType(type)) continue
    if (!(await isKnownEventType((request) => ask('listEntries', request), type))) return type
  }
  return undefined
}
