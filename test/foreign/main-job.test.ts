import { tellMainJob } from '../e2e/tell-main-job.ts'
import { startStepCa } from '../support/step-ca.ts'
import { WITH_STEP_CA } from './with-step-ca.ts'

tellMainJob('step-ca', WITH_STEP_CA, startStepCa)
