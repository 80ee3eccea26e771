// Which hub a command about logins is for: the one that is named, or the only one where somebody is signed in. docs/protocol.md OID-36.

import { UserError } from '../../../platform/errors.ts'
import type { HubAddress } from '../../doors/hub-options.ts'
import type { KeptLogin } from '../../doors/kept-login.ts'
import type { SignInDoor } from '../command-context.ts'

export interface ChosenHub {
  /** By the root that is named, else by that of the login. */
  readonly hub: HubAddress
  readonly login: KeptLogin | undefined
}

export function chooseHub({ named, logins }: SignInDoor): ChosenHub {
  if (named !== undefined) {
    const login = logins.find(named.url)
    return { hub: { url: named.url, caPem: named.caPem ?? login?.caPem }, login }
  }
  const { logins: listed, refused } = logins.list()
  const [login, ...others] = listed
  if (login === undefined) {
    if (refused[0] !== undefined) throw refused[0]
    throw new UserError('usage', 'nobody is signed in at any hub', {
      hint: 'svc login --hub https://hub.example.org:8445, or set SVC_HUB',
    })
  }
  if (others.length > 0) {
    const hubs = [login, ...others].map(({ hub }) => hub).join(', ')
    throw new UserError('usage', `name the hub with --hub: there are logins at ${hubs}`)
  }
  return { hub: { url: new URL(login.hub), caPem: login.caPem }, login }
}
