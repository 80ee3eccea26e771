// Brazilian Portuguese, where the nouns are those of the wire.

import type { Words } from './words.ts'
import { acts } from './pt-br/acts.ts'
import { audit } from './pt-br/audit.ts'
import { frame } from './pt-br/frame.ts'
import { host } from './pt-br/host.ts'
import { hosts } from './pt-br/hosts.ts'
import { overview } from './pt-br/overview.ts'
import { signIn } from './pt-br/sign-in.ts'
import { times } from './pt-br/times.ts'

export const ptBr: Words = {
  acts,
  audit,
  frame,
  host,
  hosts,
  overview,
  signIn,
  times,
}
