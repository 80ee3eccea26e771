// English.

import { access } from './en/access.ts'
import { acts } from './en/acts.ts'
import { audit } from './en/audit.ts'
import { cargo } from './en/cargo.ts'
import { confirm } from './en/confirm.ts'
import { deliveries } from './en/deliveries.ts'
import { enrolment } from './en/enrolment.ts'
import { frame } from './en/frame.ts'
import { host } from './en/host.ts'
import { hosts } from './en/hosts.ts'
import { hub } from './en/hub.ts'
import { overview } from './en/overview.ts'
import { policies } from './en/policies.ts'
import { rollouts } from './en/rollouts.ts'
import { certificates, revocations, roots } from './en/roots.ts'
import { sayCommand } from './en/say-command.ts'
import { seal } from './en/seal.ts'
import { signIn } from './en/sign-in.ts'
import { times } from './en/times.ts'
import { webhooks } from './en/webhooks.ts'

export const en = {
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
  sayCommand,
  seal,
  signIn,
  times,
  webhooks,
}
