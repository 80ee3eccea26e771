import { holdToContract } from '../e2e/hold-to-contract.ts'
import { heldOpenBao, heldStepCa } from '../support/held-authorities.ts'
import { startOpenBao } from '../support/openbao.ts'
import { startStepCa } from '../support/step-ca.ts'
import { WITH_OPENBAO } from './with-openbao.ts'
import { WITH_STEP_CA } from './with-step-ca.ts'

holdToContract(
  'step-ca',
  WITH_STEP_CA,
  { longLife: 'refused', credentials: 'SVC_CA_PROVISIONER_KEY' },
  async () => heldStepCa(await startStepCa()),
)

holdToContract(
  'OpenBao with a token',
  WITH_OPENBAO,
  { longLife: 'shortened', credentials: 'SVC_OPENBAO_TOKEN' },
  async () => heldOpenBao(await startOpenBao(), 'token'),
)

holdToContract(
  'OpenBao with AppRole in a namespace',
  WITH_OPENBAO,
  { longLife: 'shortened', credentials: 'SVC_OPENBAO_SECRET_ID', isAskedBefore: true },
  async () => heldOpenBao(await startOpenBao({ namespace: 'team' }), 'approle', 'team'),
)
