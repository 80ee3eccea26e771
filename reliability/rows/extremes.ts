// Each number, text and list that an admin may send, at its limits and just beyond, to every operation. Each is done or
// refused, and after each operation a real agent does what it does: it polls, is issued a certificate, reports it, and
// follows when the roots change.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRootPem } from '../../src/dev-ca/issuer.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import { describeError, invariant, UserError } from '../../src/platform/errors.ts'
import {
  ADMIN_OPERATIONS,
  type AdminOperationName,
  type AdminOperations,
} from '../../src/protocol/admin/operations.ts'
import { type FleetAgent, startAgentFleet } from '../../test/support/agent-fleet.ts'
import { startScriptedCa } from '../../test/support/scripted-ca.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { type Extreme, extremesOf, type Request } from '../support/extremes/extremes-of-schema.ts'
import { cargoFor, GOOD_REQUESTS, type Target } from '../support/extremes/good-requests.ts'
import { buildHubProgram } from '../support/hub-program.ts'
import { createHubVault } from '../support/hub-vault.ts'
import { hubOf } from '../support/identities/identity-probe.ts'
import { pickOne } from '../support/pick.ts'

/** Of each operation: how many extremes of one field, and how many pairs of them in one request. */
const SETTINGS = {
  small: { singlesMax: 4, pairs: 0 },
  full: { singlesMax: Number.POSITIVE_INFINITY, pairs: 40 },
} as const
const HOSTNAME = 'web-1'
const ROLE = 'web'
const ROUNDS_MAX = 5
const DAY_MS = 86_400_000

export const extremes: ReliabilityRow = {
  name: 'extremes',
  promise:
    'the hub does or refuses each admin request, at its limits or beyond, and agents still work',
  run: runRow,
}

interface Scene extends Target {
  readonly agent: FleetAgent
  readonly context: RowContext
  /** Changes the root file: the earlier root and another root, or the other root alone. */
  readonly changeRoots: () => Promise<void>
}

async function runRow(context: RowContext): Promise<RowResult> {
  const { directory } = context
  await using ca = await startScriptedCa(() => ({ kind: 'sign' }))
  const ownRoot = await readFile(String(ca.environment['SVC_CA_ROOT_CA_PATH']), 'utf8')
  const rootFile = join(directory, 'roots.pem')
  await writeFile(rootFile, ownRoot)
  const program = await buildHubProgram(directory)
  await using vault = await createHubVault({
    directory,
    program,
    caEnvironment: { ...ca.environment, SVC_CA_ROOT_CA_PATH: rootFile },
    environment: { SVC_SERVER_SANS: 'localhost', SVC_LIMIT_EVENTS: '0', SVC_LIMIT_ISSUE: '0' },
  })
  const launched = vault.launch()
  const ports = await launched.ports()
  invariant(ports, `the hub did not start: ${launched.running.stderr()}`)
  const admin = await vault.admin()
  await using fleet = await startAgentFleet(hubOf(ports, admin), [HOSTNAME])
  const [agent] = fleet.agents
  invariant(agent, 'there is an agent')
  const { id: agentId } = await admin.showAgent({ agente: HOSTNAME })
  const other = await anotherRoot()
  let isOther = false
  const changeRoots = (): Promise<void> => {
    isOther = !isOther
    return writeFile(rootFile, isOther ? `${ownRoot}\n${other}` : ownRoot)
  }
  const scene: Scene = {
    admin,
    hostname: HOSTNAME,
    agentId,
    role: ROLE,
    agent,
    context,
    changeRoots,
  }
  const broken = [...(await findRoundFaults(scene)), ...(await findRotationFaults(scene))]
  let count = 0
  for (const name of Object.keys(ADMIN_OPERATIONS) as AdminOperationName[]) {
    const tried = await tryOperation(scene, name)
    count += tried.count
    const isOnlyRead = ADMIN_OPERATIONS[name].does === 'reads'
    const faults = [...tried.faults, ...(isOnlyRead ? [] : await findRoundFaults(scene))]
    broken.push(...faults.map((fault) => `${name}: ${fault}`))
    context.progress(`${count} requests, the last to ${name}`)
  }
  if (launched.running.hasEnded())
    broken.push(`the hub ended: ${launched.running.stderr().slice(-500)}`)
  return {
    tried: `${count} requests at and beyond the limits of ${Object.keys(ADMIN_OPERATIONS).length} admin operations, with rounds of a real agent after each operation that changes anything, and another set of roots after each \`bundle update\``,
    broken,
  }
}

async function tryOperation(
  scene: Scene,
  name: AdminOperationName,
): Promise<{ readonly count: number; readonly faults: readonly string[] }> {
  const { request: schema } = ADMIN_OPERATIONS[name]
  const { random, setting } = scene.context
  // A request without fields has the type of any object.
  const goodRequest = async (): Promise<Request> =>
    GOOD_REQUESTS[name](scene) as Request | Promise<Request>
  const faults: string[] = []
  let count = 0
  const attempt = async (...chosen: readonly Extreme[]): Promise<void> => {
    count += 1
    // What a request names is gone once it was done: each has its own.
    const good = await goodRequest()
    const request = chosen.reduce((base, { applyTo }) => applyTo(base), good)
    const description = chosen.map((one) => one.description).join(', ')
    const fault = await send(scene.admin, name, request)
    if (fault !== undefined) faults.push(`${description}: ${fault}`)
    // Numbers of sets follow one another: what one of them spoils shows with the next.
    if (name === 'updateBundle') {
      const after = await findRotationFaults(scene)
      faults.push(...after.map((one) => `after ${description}: ${one}`))
    }
  }
  const all = extremesOf(schema, await goodRequest())
  const { singlesMax, pairs } = SETTINGS[setting]
  const singles =
    all.length <= singlesMax || name === 'updateBundle'
      ? all
      : Array.from({ length: singlesMax }, () => pickOne(random, all))
  for (const single of singles) await attempt(single)
  for (let pair = 0; pair < pairs && all.length > 0; pair += 1) {
    await attempt(pickOne(random, all), pickOne(random, all))
  }
  if (name === 'setPolicy' || name === 'setSelectorPolicy') await takeBackPolicies(scene)
  return { count, faults }
}

/** Done, or refused with a code; anything else is a fault of the hub. */
async function send(
  admin: AdminOperations,
  name: AdminOperationName,
  request: Request,
): Promise<string | undefined> {
  try {
    await (admin[name] as (asked: object) => Promise<object>)(request)
    return undefined
  } catch (error) {
    return error instanceof UserError ? undefined : describeError(error)
  }
}

/** What an admin forbids is forbidden; once that is taken back, it is not. */
async function takeBackPolicies({ admin }: Scene): Promise<void> {
  const { politicas } = await admin.listPolicies({})
  for (const { role } of politicas) await admin.removePolicy({ role })
  const bySelector = await admin.listSelectorPolicies({})
  for (const { nome } of bySelector.politicas) await admin.removeSelectorPolicy({ nome })
}

async function findRoundFaults(scene: Scene): Promise<string[]> {
  const { admin, agent, hostname } = scene
  const { entregas } = await admin.createCargo(cargoFor(hostname))
  const id = entregas[0]?.id ?? ''
  let status: string | undefined
  for (let round = 0; round < ROUNDS_MAX && status !== 'instalada'; round += 1) {
    await agent.poll()
    status = (await admin.showAgent({ agente: hostname })).entregas.find(
      (one) => one.id === id,
    )?.status
  }
  return status === 'instalada' ? [] : [`a new entrega is ${status} after the agent's rounds`]
}

async function findRotationFaults({ admin, agent, changeRoots }: Scene): Promise<string[]> {
  await changeRoots()
  try {
    await admin.updateBundle({ force: true })
  } catch (error) {
    return [`the roots cannot be changed any more: ${describeError(error)}`]
  }
  const problems: string[] = []
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    problems.push(...(await agent.poll()).problems)
    if ((await admin.showBundle({})).pendentes.length === 0) return []
  }
  return [`the agent follows the roots no more: ${problems.join('; ')}`]
}

async function anotherRoot(): Promise<string> {
  const now = Date.now()
  const validity = { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + 30 * DAY_MS) }
  return createRootPem({ commonName: 'another', ...validity }, await generateEcP256Key())
}
