// What a hub that answers says of itself, for `svc doctor`. docs/protocol.md DOC-6, DOC-20.

import type { HubFacts, HubFailure } from '../../doctor/scene.ts'
import { SvcError, UserError } from '../../platform/errors.ts'
import type { AdminSession } from './admin-session.ts'

type Seen = Omit<HubFacts, 'waitsFor'>

/** `open` answers undefined where no hub is. */
export async function lookAtHub(
  open: () => Promise<AdminSession | undefined>,
  address: string,
): Promise<Seen> {
  const nothing = { address, status: undefined, examination: undefined, failure: undefined }
  try {
    const session = await open()
    return session === undefined ? nothing : await ask(session, address)
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return { ...nothing, failure: { reason: error.message, kind: kindOf(error.code) } }
  }
}

const DENIALS: ReadonlySet<string> = new Set([
  'permission_denied',
  'admin_token_invalid',
  'login_ended',
  'role_insufficient',
  'token_bounded',
  'hub_untrusted',
])

function kindOf(code: string): HubFailure['kind'] {
  if (code === 'route_not_found') return 'old'
  return DENIALS.has(code) ? 'denied' : 'silent'
}

async function ask({ operations }: AdminSession, address: string): Promise<Seen> {
  const [status, examination] = await Promise.all([
    operations.showStatus({}),
    operations.showExamination({}).catch((error: unknown) => {
      // A hub up to 0.4.0.
      if (error instanceof UserError && error.code === 'route_not_found') return undefined
      throw error
    }),
  ])
  return { address, status, examination, failure: undefined }
}
