import { startDevCa } from '../support/dev-ca.ts'
import { heldStepCa } from '../support/held-authorities.ts'
import { holdToContract } from './hold-to-contract.ts'

holdToContract(
  'svc-ca',
  {},
  { longLife: 'refused', credentials: 'SVC_CA_PROVISIONER_KEY' },
  async () => heldStepCa(await startDevCa()),
)
