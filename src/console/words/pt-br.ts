// Brazilian Portuguese, where the nouns are those of the wire.

import type { Words } from './words.ts'
import { acts } from './pt-br/acts.ts'
import { audit } from './pt-br/audit.ts'
import { cargo } from './pt-br/cargo.ts'
import { deliveries } from './pt-br/deliveries.ts'
import { frame } from './pt-br/frame.ts'
import { host } from './pt-br/host.ts'
import { hosts } from './pt-br/hosts.ts'
import { overview } from './pt-br/overview.ts'
import { rollouts } from './pt-br/rollouts.ts'
import { signIn } from './pt-br/sign-in.ts'
import { times } from './pt-br/times.ts'

export const ptBr: Words = {
  acts,
  audit,
  cargo,
  deliveries,
  frame,
  host,
  hosts,
  overview,
  rollouts,
  signIn,
  times,
}
