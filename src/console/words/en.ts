// English.

import { acts } from './en/acts.ts'
import { audit } from './en/audit.ts'
import { frame } from './en/frame.ts'
import { host } from './en/host.ts'
import { hosts } from './en/hosts.ts'
import { overview } from './en/overview.ts'
import { signIn } from './en/sign-in.ts'
import { times } from './en/times.ts'

export const en = {
  acts,
  audit,
  frame,
  host,
  hosts,
  overview,
  signIn,
  times,
}
