import { holdToAuthority } from '../e2e/hold-to-authority.ts'
import { startStepCa } from '../support/step-ca.ts'
import { WITH_STEP_CA } from './with-step-ca.ts'

holdToAuthority('step-ca', WITH_STEP_CA, (options) =>
  startStepCa({ ...options, otherProvisioners: 45 }),
)
