// Many clients use one token at the same moment: one gets in. While the CA fails none does, and the token stays good.

import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type { AdminAgent, AdminToken } from '../../src/protocol/admin/views.ts'
import type { CaBehaviour } from '../../test/fakes/ca-server.ts'
import { createKeyAndCsr } from '../../test/support/enrolled-host.ts'
import { startScriptedCa, type ScriptedCa } from '../../test/support/scripted-ca.ts'
import { post, type WireReply } from '../../test/support/wire-client.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { KnownLog } from '../support/check-writes.ts'
import { buildHubProgram } from '../support/hub-program.ts'
import { createHubVault } from '../support/hub-vault.ts'
import { pickOne } from '../support/pick.ts'

const ROUNDS = { small: 15, full: 200 } as const
const CLIENTS = 64
const ROLE = 'web'
const ROUNDS_BETWEEN_PROGRESS = 50

export const oneTokenOneUse: ReliabilityRow = {
  name: 'one-token-one-use',
  promise: 'of 64 concurrent uses of one token one succeeds; a failing CA consumes no token',
  run: runRow,
}

async function runRow(context: RowContext): Promise<RowResult> {
  const rounds = ROUNDS[context.setting]
  const { random } = context
  let behaviour: CaBehaviour = { kind: 'sign' }
  await using ca = await startScriptedCa(() => behaviour)
  const program = await buildHubProgram(context.directory)
  await using vault = await createHubVault({
    directory: context.directory,
    program,
    caEnvironment: ca.environment,
  })
  const ports = await vault.launch().ports()
  if (ports === undefined) throw new Error('the hub did not start')
  const admin = await vault.admin()
  const log = new KnownLog()
  const broken = await log.readOn(admin)
  const countBefore = log.count
  for (let round = 1; round <= rounds; round += 1) {
    const hostname = `herd-${round}.example`
    const herd = await gatherHerd(admin, hostname, random)
    const rush = async (how: CaBehaviour): Promise<Rush> => {
      behaviour = how
      const callsBefore = ca.hostCalls().length
      const replies = await Promise.all(
        herd.map((body) => post({ port: ports.enroll }, '/v1/enroll', body)),
      )
      return { admin, hostname, replies, calls: ca.hostCalls().length - callsBefore }
    }
    const failure = pickFailure(random)
    const faults = [
      ...(await findFailingFaults(await rush(failure), failure)),
      ...(await findWorkingFaults(await rush({ kind: 'sign' }))),
    ]
    broken.push(...faults.map((fault) => `round ${round}: ${fault}`))
    if (round % ROUNDS_BETWEEN_PROGRESS === 0) context.progress(`${round} of ${rounds} rounds`)
  }
  broken.push(...(await log.readOn(admin)), ...findLogFaults(log, countBefore, ca, rounds))
  return {
    tried: `${rounds} rounds of ${CLIENTS} enrolments with the CA failing, then ${CLIENTS} with it working`,
    broken,
  }
}

interface Rush {
  readonly admin: AdminOperations
  readonly hostname: string
  readonly replies: readonly WireReply[]
  /** To the CA, for this host. */
  readonly calls: number
}

/** The requests of one round: all with one token, and with one CSR or with one each. */
async function gatherHerd(
  admin: AdminOperations,
  hostname: string,
  random: Random,
): Promise<object[]> {
  const { token } = await admin.createToken({ hostname, role: ROLE })
  const isOneCsr = random() < 0.5
  const shared = await createKeyAndCsr(hostname)
  const clients = Array.from({ length: CLIENTS }, async () => {
    const { csrPem } = isOneCsr ? shared : await createKeyAndCsr(hostname)
    return { token, hostname, role: ROLE, csr_pem: csrPem }
  })
  return Promise.all(clients)
}

function pickFailure(random: Random): CaBehaviour {
  const failures: readonly CaBehaviour[] = [
    { kind: 'answer', status: 500, body: '{"status":500,"message":"no"}' },
    { kind: 'answer', status: 201, body: '{"crt":"-----BEGIN' },
    { kind: 'cut' },
    { kind: 'wrong_certificate', fault: 'other_key' },
    { kind: 'wrong_certificate', fault: 'other_common_name' },
    { kind: 'wrong_certificate', fault: 'other_root' },
  ]
  return pickOne(random, failures)
}

async function findFailingFaults(rush: Rush, failure: CaBehaviour): Promise<string[]> {
  const { hostname } = rush
  const faults = describeReplies(rush, { '502 {"error":"ca_failed"}': CLIENTS })
  const { token, agents } = await rowsOf(rush)
  if (token?.consumed_at !== null) faults.push(`${hostname}: consumed though nobody was enrolled`)
  if (agents.length > 0) faults.push(`${hostname}: ${agents.length} agents and no certificate`)
  return faults.map((fault) => `CA fails (${JSON.stringify(failure)}): ${fault}`)
}

async function findWorkingFaults(rush: Rush): Promise<string[]> {
  const { hostname, replies, calls } = rush
  const faults = describeReplies(rush, {
    '200': 1,
    '401 {"error":"token_consumed"}': CLIENTS - 1,
  })
  if (calls !== 1) faults.push(`${hostname}: ${calls} calls to the CA`)
  const { token, agents } = await rowsOf(rush)
  if (typeof token?.consumed_at !== 'string') faults.push(`${hostname}: the token is not consumed`)
  const winner = String(replies.find(({ status }) => status === 200)?.json['agent_id'])
  if (agents.length !== 1 || agents[0]?.id !== winner) {
    faults.push(`${hostname}: agents ${agents.map(({ id }) => id).join(', ')}, answered ${winner}`)
  }
  return faults
}

/** Says how the replies differ from the expected replies, if they do. */
function describeReplies(
  { hostname, replies }: Rush,
  expected: Readonly<Record<string, number>>,
): string[] {
  const kindOf = ({ status, text }: WireReply): string =>
    status === 200 ? '200' : `${status} ${text}`
  const counts: Record<string, number> = {}
  for (const reply of replies) counts[kindOf(reply)] = (counts[kindOf(reply)] ?? 0) + 1
  const kinds = new Set([...Object.keys(counts), ...Object.keys(expected)])
  const isSame = [...kinds].every((kind) => counts[kind] === expected[kind])
  return isSame ? [] : [`${hostname}: answered ${JSON.stringify(counts)}`]
}

async function rowsOf({
  admin,
  hostname,
}: Rush): Promise<{ token: AdminToken | undefined; agents: AdminAgent[] }> {
  const { tokens } = await admin.listTokens({})
  const { agentes } = await admin.listAgents({})
  const isOfHost = (row: { readonly hostname: string }): boolean => row.hostname === hostname
  return { token: tokens.find(isOfHost), agents: agentes.filter(isOfHost) }
}

function findLogFaults(
  log: KnownLog,
  countBefore: number,
  ca: ScriptedCa,
  rounds: number,
): string[] {
  const faults: string[] = []
  // A token, its enrolment and its certificate each.
  const count = log.count - log.askedInVain - countBefore
  if (count !== rounds * 3) faults.push(`${count} entries after ${rounds} rounds`)
  const failures = ca.hostCalls().length - rounds
  if (log.askedInVain > failures) faults.push(`${log.askedInVain} entries of ${failures} failures`)
  const signedFor = new Set(ca.hostCalls().map(({ claims }) => claims.sub))
  if (signedFor.size !== rounds) faults.push(`the CA was asked for ${signedFor.size} hosts`)
  return faults
}
