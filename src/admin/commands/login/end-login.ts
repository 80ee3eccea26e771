import { SvcError } from '../../../platform/errors.ts'
import type { KeptLogin } from '../../doors/kept-login.ts'

const HUB_MS_MAX = 10_000

/** Has the hub revoke the token of a login. Undefined, also when it had ended; else why that could not be. */
export async function endAtHub(login: KeptLogin): Promise<SvcError | undefined> {
  const { openRemoteHub } = await import('../../doors/remote-hub.ts')
  const { token, caPem } = login
  const { operations } = openRemoteHub(
    { url: new URL(login.hub), caPem, token, from: { login } },
    HUB_MS_MAX,
  )
  try {
    await operations.revokeOwnToken({})
    return undefined
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return error.code === 'login_ended' ? undefined : error
  }
}
