import { startDevCa } from '../support/dev-ca.ts'
import { holdToAuthority } from './hold-to-authority.ts'

holdToAuthority('svc-ca', {}, startDevCa)
