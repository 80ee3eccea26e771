import { holdToContract } from '../e2e/hold-to-contract.ts'
import { heldOpenBao, heldPebble, heldStepCa } from '../support/held-authorities.ts'
import { startOpenBao } from '../support/openbao.ts'
import { startPebble } from '../support/pebble.ts'
import { startStepCa } from '../support/step-ca.ts'
import { WITH_OPENBAO } from './with-openbao.ts'
import { WITH_PEBBLE } from './with-pebble.ts'
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

const PROVING = {
  longLife: 'decided',
  credentials: 'SVC_ACME_EAB_KEY',
  isAskedBefore: true,
  isProving: true,
} as const

holdToContract('Pebble with dns-01 and an external account', WITH_PEBBLE, PROVING, async () =>
  heldPebble(await startPebble({ hasExternalAccounts: true, nonceRejectPercent: 20 }), 'dns-01'),
)

holdToContract('Pebble with http-01', WITH_PEBBLE, { ...PROVING, hasNoWildcards: true }, async () =>
  heldPebble(await startPebble({ hasExternalAccounts: true }), 'http-01'),
)
