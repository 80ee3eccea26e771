// Why nobody is signed in, and what helps. docs/protocol.md OID-38.

import { SvcError, UserError } from '../../platform/errors.ts'
import { printableExtract } from '../../platform/printable.ts'
import type { HubReply } from '../doors/hub-calls.ts'
import type { HubAddress } from '../doors/hub-options.ts'
import { signInAgain } from '../doors/hints.ts'
import type { Callback } from './judge-callback.ts'

const MESSAGE_CHARACTERS_MAX = 500

const HINTS: Readonly<Record<string, string>> = {
  sign_in_no_role:
    'SVC_OIDC_ROLES of the hub says which groups have a role; sign in again when you are in one of them',
  sign_in_name_taken:
    'an admin sees in svc admin token list who has the name, and ends that by svc admin token revoke',
  sign_in_name_invalid:
    'SVC_OIDC_NAME_CLAIM of the hub says which claim names people; the hub’s log says what is wrong with it',
  sign_in_provider_refused:
    'the hub’s log says more; compare the clocks of hub and provider, and the SVC_OIDC_… settings with what the provider has of this client',
  sign_in_provider_unavailable:
    'the hub cannot reach the provider: svc doctor on the hub says why; an admin token works meanwhile (--token-file)',
}

export function explainSignInRefusal(
  { url }: HubAddress,
  { status, headers }: HubReply,
  body: { readonly error?: unknown; readonly message?: unknown },
): SvcError {
  const code = typeof body.error === 'string' ? body.error : 'reply_invalid'
  const message =
    typeof body.message === 'string'
      ? printableExtract(body.message, MESSAGE_CHARACTERS_MAX)
      : `the hub refuses the sign-in (${status})`
  switch (code) {
    // A hub answers so to a stranger who asks it for what it does not have.
    case 'admin_token_invalid':
    case 'route_not_found':
      return new UserError('oidc_off', `${url.origin} lets nobody sign in by an OpenID provider`, {
        hint: 'SVC_OIDC_ISSUER and SVC_OIDC_CLIENT_ID of the hub turn it on (operations.md); until then name an admin token with --token-file',
      })
    case 'rate_limited':
      return new SvcError(code, 'the hub refused too many sign-ins from this address', {
        hint: `try again in ${headers['retry-after'] ?? 'a few'} seconds`,
      })
    case 'sign_in_state_invalid':
      return new UserError(code, message, {
        hint: `a sign-in has ten minutes: ${signInAgain(url.origin)}`,
      })
    default: {
      const hint = HINTS[code]
      const options = hint === undefined ? {} : { hint }
      return status < 500
        ? new UserError(code, message, options)
        : new SvcError(code, message, options)
    }
  }
}

/** The provider itself said no, to the browser. */
export function explainProviderRefusal({
  error,
  description,
}: Extract<Callback, { kind: 'refused' }>): UserError {
  const said = [printableExtract(error, 100), printableExtract(description, 300)]
  return new UserError(
    'sign_in_refused',
    `the provider refused the sign-in: ${said.filter((each) => each !== '').join(': ')}`,
    error === 'access_denied'
      ? { hint: 'sign in with another account, or ask those who run the provider' }
      : {
          hint: 'those who run the hub compare the SVC_OIDC_… settings with what the provider has',
        },
  )
}
