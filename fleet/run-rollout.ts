// A rollout that some hosts do not bear: the fleet is labelled, a carga reaches each host by its selector, its next version goes out
// in waves, the reload of one host in 33 fails, the rollout freezes by itself and is undone. docs/protocol.md LBL-19, RLO.

import { join } from 'node:path'
import { connectToHub } from '../src/admin/doors/socket-client.ts'
import { systemClock } from '../src/platform/clock.ts'
import { UserError } from '../src/platform/errors.ts'
import type { AdminOperations } from '../src/protocol/admin/operations.ts'
import type { FleetWorld } from './fleet-world.ts'
import { renderVerdict } from './report.ts'
import { type RunContext, startAgents } from './run-step.ts'

const WHERE = 'env=prod'
const CARGO = { tipo: 'csr_cert', nome: 'site', agentes: [], roles: [], sans: [], where: WHERE }
/** 3 % of the hosts. */
const BROKEN = { one_of: 33, versao: 2 }
const WAVES = ['1', '10%', '50%', '100%']
const ROLLOUT = { carga: 'site', waves: WAVES, soak_seconds: 10, max_failed: '2%' }
const LOOK_MS = 2000
const WAIT_MS_MAX = 600_000

interface RolloutRun {
  readonly operations: AdminOperations
  readonly world: FleetWorld
  readonly agents: number
  readonly print: (text: string) => void
  /** Of what is printed. */
  readonly since: Date
}

export async function runRollout(context: RunContext, world: FleetWorld): Promise<void> {
  const { plan, print } = context
  await startAgents(context, world, false)
  const session = await connectToHub(join(world.vaultRoot, 'admin.sock'))
  if (session === undefined) throw new UserError('fleet', 'the hub does not answer its socket')
  const { operations } = session
  const run: RolloutRun = {
    operations,
    world,
    agents: plan.enrolled,
    print,
    since: systemClock.now(),
  }
  await installEverywhere(run)
  await rollOut(run)
  await undo(run)
}

async function installEverywhere(run: RolloutRun): Promise<void> {
  const { operations, world, agents } = run
  await operations.createCargo(CARGO)
  await world.driver.send({ do: 'deliver', broken: BROKEN })
  const { changed } = await operations.labelAgents({ where: 'role=fleet', set: { env: 'prod' } })
  say(run, `${changed} of ${agents} hosts labelled ${WHERE}`)
  await until(run, 'all hosts have the carga', async () => {
    const { entregas } = await operations.showCargo({ carga: 'site' })
    const { delivered } = await world.driver.sample()
    return entregas >= agents && delivered >= agents
  })
}

async function rollOut(run: RolloutRun): Promise<void> {
  const { operations, print } = run
  const { planned } = await operations.startRollout(ROLLOUT)
  say(run, `waves: ${planned.map(({ wave, hosts }) => `${wave} (${hosts})`).join(', ')}`)
  let wave = 0
  await until(run, 'the rollout freezes', async () => {
    const shown = await operations.showRollout({ rollout: 'site' })
    if (shown.wave !== wave) say(run, `wave ${shown.wave} of ${WAVES.length} opens`)
    wave = shown.wave
    if (shown.state === 'done')
      throw new UserError('fleet', 'the rollout is done: nothing froze it')
    return shown.state === 'frozen'
  })
  const { reason, hosts, given } = await operations.showRollout({ rollout: 'site' })
  say(run, `frozen in wave ${wave}: ${reason ?? ''}`)
  const reached = (given / run.agents) * 100
  print(
    renderVerdict(
      `${given} of ${run.agents} hosts were given the version (${reached.toFixed(1)} %), ${hosts.failed} of them put it back`,
      wave < 3 && reached <= 10.1,
    ),
  )
}

async function undo(run: RolloutRun): Promise<void> {
  const { operations, world, print } = run
  const before = (await world.driver.sample()).delivered
  const { given } = await operations.undoRollout({ rollout: 'site' })
  await until(run, 'all of these hosts have the last good version again', async () => {
    const { delivered } = await world.driver.sample()
    const { entregas } = await operations.findDeliveries({ status: ['pendente', 'revertida'] })
    return delivered - before >= given && entregas.length === 0
  })
  const [last] = (await operations.listRollouts({})).rollouts
  const { delivered } = await world.driver.sample()
  print(
    renderVerdict(
      `undone: ${delivered - before} hosts went back, ${given} had been given the version, the others kept what they had; the rollout is ${last?.state}`,
      delivered - before === given && last?.state === 'undone',
    ),
  )
}

async function until(run: RolloutRun, what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadlineMs = systemClock.now().getTime() + WAIT_MS_MAX
  while (!(await isSo())) {
    if (systemClock.now().getTime() > deadlineMs) throw new UserError('fleet', `in vain: ${what}`)
    await systemClock.sleep(LOOK_MS)
  }
  say(run, what)
}

function say({ print, since }: RolloutRun, text: string): void {
  const seconds = (systemClock.now().getTime() - since.getTime()) / 1000
  print(`${seconds.toFixed(0).padStart(4)} s  ${text}\n`)
}
