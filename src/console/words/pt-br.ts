// Brazilian Portuguese, where the nouns are those of the wire.

import type { Words } from './words.ts'
import { access } from './pt-br/access.ts'
import { acts } from './pt-br/acts.ts'
import { audit } from './pt-br/audit.ts'
import { cargo } from './pt-br/cargo.ts'
import { confirm } from './pt-br/confirm.ts'
import { deliveries } from './pt-br/deliveries.ts'
import { enrolment } from './pt-br/enrolment.ts'
import { frame } from './pt-br/frame.ts'
import { host } from './pt-br/host.ts'
import { hosts } from './pt-br/hosts.ts'
import { hub } from './pt-br/hub.ts'
import { overview } from './pt-br/overview.ts'
import { policies } from './pt-br/policies.ts'
import { rollouts } from './pt-br/rollouts.ts'
import { certificates, revocations, roots } from './pt-br/roots.ts'
import { seal } from './pt-br/seal.ts'
import { signIn } from './pt-br/sign-in.ts'
import { times } from './pt-br/times.ts'
import { webhooks } from './pt-br/webhooks.ts'

export const ptBr: Words = {
  access,
  acts,
  audit,
  cargo,
  certificates,
  confirm,
  deliveries,
  enrolment,
  frame,
  host,
  hosts,
  hub,
  overview,
  policies,
  revocations,
  rollouts,
  roots,
  /** In the source it stands in Portuguese, as on the wire. */
  sayCommand: (command) => command,
  seal,
  signIn,
  times,
  webhooks,
}
