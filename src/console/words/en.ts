// English.

import { acts } from './en/acts.ts'
import { enrolment } from './en/enrolment.ts'
import { frame } from './en/frame.ts'
import { host } from './en/host.ts'
import { hosts } from './en/hosts.ts'
import { overview } from './en/overview.ts'
import { policies } from './en/policies.ts'
import { signIn } from './en/sign-in.ts'
import { times } from './en/times.ts'

export const en = { acts, enrolment, frame, host, hosts, overview, policies, signIn, times }
