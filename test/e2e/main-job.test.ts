import { startDevCa } from '../support/dev-ca.ts'
import { tellMainJob } from './tell-main-job.ts'

tellMainJob('svc-ca', {}, startDevCa)
