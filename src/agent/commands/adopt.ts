import { join } from 'node:path'
import { confirmOn } from '../../platform/confirm.ts'
import { parseDurationMs } from '../../platform/durations.ts'
import { describeError, UserError } from '../../platform/errors.ts'
import { tryLockFile } from '../../platform/file-lock.ts'
import { printableLines } from '../../platform/printable.ts'
import type { Adoption } from '../adopt/adoption.ts'
import type { AdoptHost } from '../adopt/adopt-host.ts'
import type { AdoptionStore } from '../adopt/adoption-store.ts'
import { adoptionOf, lackingNames } from '../adopt/begin-adoption.ts'
import { describeProposal, formatLoads, formatProposal, loadsOf } from '../adopt/format-plan.ts'
import type { Proposal } from '../adopt/proposal.ts'
import { stopKeyOf } from '../adopt/renewers/renewer.ts'
import { refuseShared, sharesRenewer } from '../adopt/shared-renewers.ts'
import { takeOver } from '../adopt/take-over.ts'
import { undoAdoption } from '../adopt/undo-adoption.ts'
import { type Language, stateIn } from '../../protocol/spoken-words.ts'
import { agentPaths } from '../settings/paths.ts'
import { readPairAsOwner } from '../targets/read-pair.ts'
import type { TargetsHost } from '../targets/run-pass.ts'
import {
  type AdoptPlaces,
  openAdoptPlaces,
  passesOf,
  planAdoption,
  prepareToChange,
  storeIn,
} from './adopt-places.ts'
import { type Environment, print } from './context.ts'

export interface AdoptOptions {
  /** Ids, loads, services or paths; none: all. */
  readonly what: readonly string[]
  readonly apply: boolean
  readonly undo: boolean
  readonly yes: boolean
  readonly wait: string
  readonly json: boolean
}

interface Outcome {
  readonly id: string
  readonly result: 'adopted' | 'undone' | 'waiting' | 'refused' | 'stuck'
  readonly serial: string | null
  readonly reason: string | null
  readonly problems: readonly string[]
}

interface Work {
  readonly places: AdoptPlaces
  readonly targets: TargetsHost
  readonly host: AdoptHost
  readonly store: AdoptionStore
}

const LOOK_MS = 1000
const TELL_MS = 30_000

export async function runAdopt(env: Environment, options: AdoptOptions): Promise<void> {
  if (options.apply && options.undo) {
    throw new UserError('contradiction', '--apply and --undo are the opposite of each other')
  }
  const waitMs = parseDurationMs(options.wait)
  if (waitMs === undefined) {
    throw new UserError('wait_invalid', `--wait takes a duration such as 15m: ${options.wait}`)
  }
  const places = await openAdoptPlaces(env)
  if (!options.apply && !options.undo) return showPlan(places, options)
  const targets = await prepareToChange(places)
  const lock = tryLockFile(join(places.stateDir, 'adopt.lock'))
  if (lock === undefined) throw new UserError('adopt_busy', 'another svc-agent adopt runs')
  try {
    const work = { places, targets, ...storeIn(places, passesOf(places, targets)) }
    await work.host.makeDirectory(join(places.stateDir, 'adopt'))
    const outcomes = options.undo ? await undo(work, options) : await apply(work, options, waitMs)
    await showOutcomes(places.config.language, outcomes, options)
  } finally {
    lock.release()
  }
}

async function showPlan(places: AdoptPlaces, options: AdoptOptions): Promise<void> {
  const { store } = storeIn(places, NO_PASSES)
  const plan = await planAdoption(places, store)
  const isWanted = selectorOf(options.what)
  const proposals = refuseShared(plan.proposals, isWanted).filter(isWanted)
  const { hostname } = places
  const document = {
    hostname,
    proposals: proposals.map(describeProposal),
    loads: loadsOf(proposals, hostname),
    remarks: plan.remarks,
  }
  await print(document, options, [...planLines(proposals, hostname), ...plan.remarks].join('\n\n'))
}

function planLines(proposals: readonly Proposal[], hostname: string): string[] {
  const texts = [...proposals.map(formatProposal), formatLoads(proposals, hostname)]
  const shown = texts.filter((text) => text !== '')
  return shown.length > 0 ? shown : ['no service runs here that reads a certificate']
}

const NEVER = (): Promise<never> => Promise.reject(new Error('a plan changes nothing'))
const NO_PASSES = {
  applyTarget: NEVER,
  listApplied: NEVER,
  settleTarget: NEVER,
  withoutPasses: NEVER,
}

async function apply(work: Work, options: AdoptOptions, waitMs: number): Promise<Outcome[]> {
  const { places, store } = work
  const isWanted = selectorOf(options.what)
  const outcomes: Outcome[] = []
  const interrupted = (await store.list()).filter(
    (one) => one.phase === 'undoing' || (one.phase !== 'adopted' && isWanted(selectableOf(one))),
  )
  if (interrupted.length > 0) {
    const ids = interrupted.map(({ id, phase }) => (phase === 'undoing' ? `${id} (undo)` : id))
    await confirm(options, `Go on with what was interrupted, ${ids.join(', ')}?`)
  }
  for (const adoption of interrupted) {
    say(`${adoption.id}: going on where it was interrupted`)
    outcomes.push(await orStuck(adoption, () => finish(work, adoption)))
  }
  const plan = await planAdoption(places, store)
  const chosen = refuseShared(plan.proposals, isWanted).filter(isWanted)
  if (options.what.length > 0 && chosen.length === 0 && outcomes.length === 0) {
    throw new UserError('nothing_found', `nothing here is named ${options.what.join(', ')}`, {
      hint: 'svc-agent adopt lists what there is',
    })
  }
  const open = chosen.filter(({ state, problems }) => state === 'open' && problems.length === 0)
  for (const { id, problems } of chosen) {
    if (problems.length === 0) continue
    const reason = problems.join('\n')
    outcomes.push({ id, result: 'refused', serial: null, reason, problems: [] })
  }
  if (open.length === 0) return outcomes
  say(planLines(open, places.hostname).join('\n\n'))
  await confirm(options, `Take over ${open.map(({ id }) => id).join(', ')}?`)
  outcomes.push(...(await takeOverAsDelivered(work, open, waitMs)))
  return outcomes
}

/** Those first that are delivered first; what is not delivered in time is left as it is. */
async function takeOverAsDelivered(
  work: Work,
  open: readonly Proposal[],
  waitMs: number,
): Promise<Outcome[]> {
  const { clock } = work.targets
  const endMs = performance.now() + waitMs
  const outcomes: Outcome[] = []
  let waiting = open.map((proposal) => ({ proposal, reason: '' }))
  let toldMs = Number.NEGATIVE_INFINITY
  for (;;) {
    const still: typeof waiting = []
    for (const { proposal, reason } of await lookAtDeliveries(work, waiting)) {
      if (reason === undefined) outcomes.push(await orStuck(proposal, () => begin(work, proposal)))
      else still.push({ proposal, reason })
    }
    waiting = still
    const isOver = performance.now() >= endMs
    if (waiting.length === 0 || isOver) break
    if (performance.now() - toldMs >= TELL_MS) {
      for (const { proposal, reason } of waiting) say(`${proposal.id}: waits: ${reason}`)
      toldMs = performance.now()
    }
    await clock.sleep(LOOK_MS)
  }
  const late = waiting.map(({ proposal: { id }, reason }): Outcome => {
    return { id, result: 'waiting', serial: null, reason, problems: [] }
  })
  return [...outcomes, ...late].map((outcome) => withStoppedRenewer(outcome, outcomes, open))
}

/** What has one renewer with others waits for them: that is stopped by the first. */
async function lookAtDeliveries(
  work: Work,
  waiting: readonly { readonly proposal: Proposal }[],
): Promise<{ readonly proposal: Proposal; readonly reason: string | undefined }[]> {
  const looked: { proposal: Proposal; reason: string | undefined }[] = []
  for (const { proposal } of waiting) {
    looked.push({ proposal, reason: await whyNotDelivered(work, proposal) })
  }
  return looked.map(({ proposal, reason }) => {
    const held = looked.find(
      (other) => other.reason !== undefined && sharesRenewer(other.proposal, proposal),
    )
    const waits = held && `${held.proposal.id} has the same renewer, and waits`
    return { proposal, reason: reason ?? waits }
  })
}

/** One that failed after another had stopped the renewer of both is renewed by nobody. */
function withStoppedRenewer(
  outcome: Outcome,
  all: readonly Outcome[],
  open: readonly Proposal[],
): Outcome {
  const own = open.find(({ id }) => id === outcome.id)
  if (outcome.result === 'adopted' || own === undefined) return outcome
  const adopted = new Set(all.filter(({ result }) => result === 'adopted').map(({ id }) => id))
  const other = open.find((one) => adopted.has(one.id) && sharesRenewer(one, own))
  if (other === undefined) return outcome
  const problem = `what renews it is stopped for ${other.id}: mend this, or undo that`
  return { ...outcome, problems: [...outcome.problems, problem] }
}

async function whyNotDelivered(
  { places, targets }: Work,
  proposal: Proposal,
): Promise<string | undefined> {
  const reading = await readPairAsOwner(targets.owner, agentPaths(places.config), proposal.name)
  return reading.ok ? lackingNames(reading.material, proposal) : reading.reason
}

/** The wait may have been long: a renewal or an edit meanwhile makes it another plan, which nobody has agreed to. */
async function begin(work: Work, planned: Proposal): Promise<Outcome> {
  const { id, targetText } = planned
  const { proposals } = await planAdoption(work.places, work.store, id)
  const [fresh] = proposals
  const isSame =
    fresh?.state === 'open' &&
    fresh.targetText === targetText &&
    stopsOf(fresh).join('\n') === stopsOf(planned).join('\n')
  if (!isSame || fresh.problems.length > 0) {
    const reason = fresh?.problems[0] ?? 'the host has changed since the plan was made'
    return { id, result: 'waiting', serial: null, reason, problems: [] }
  }
  const adoption = adoptionOf(fresh)
  say(`${id}: taking over`)
  await work.store.begin(adoption)
  return finish(work, adoption)
}

function stopsOf({ renewers }: Proposal): string[] {
  return renewers.flatMap(({ stop }) => (stop === undefined ? [] : [stopKeyOf(stop)]))
}

async function finish({ host, store }: Work, adoption: Adoption): Promise<Outcome> {
  const result = await takeOver(host, store, adoption)
  const { id } = adoption
  return result.ok
    ? { id, result: 'adopted', serial: result.serial ?? null, reason: null, problems: [] }
    : { id, result: 'undone', serial: null, reason: result.reason, problems: result.problems }
}

async function undo({ host, store }: Work, options: AdoptOptions): Promise<Outcome[]> {
  const isWanted = selectorOf(options.what)
  const adoptions = (await store.list()).filter((adoption) => isWanted(selectableOf(adoption)))
  if (adoptions.length === 0) {
    throw new UserError('nothing_adopted', 'nothing is adopted that could be taken back')
  }
  await confirm(options, `Put back ${adoptions.map(({ id }) => id).join(', ')}?`)
  const outcomes: Outcome[] = []
  for (const adoption of adoptions) {
    const { id, nome, former_not_after: until } = adoption
    const outcome = await orStuck(adoption, async () => {
      const problems = await undoAdoption(host, store, adoption)
      return { id, result: 'undone', serial: adoption.former_serial, reason: null, problems }
    })
    outcomes.push(outcome)
    if (outcome.result !== 'undone') continue
    say(`${id}: the certificate that is back is valid until ${until}; the load ${nome} stays`)
  }
  return outcomes
}

/** One that cannot go on now holds up no other; the next start goes on with it. */
async function orStuck(
  { id }: { readonly id: string },
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await work()
  } catch (error) {
    return { id, result: 'stuck', serial: null, reason: describeError(error), problems: [] }
  }
}

function selectableOf(adoption: Adoption) {
  return { ...adoption, name: adoption.nome, files: adoption.places }
}

/** `what` names an adoption, its load, one of its services or one of its files. */
function selectorOf(what: readonly string[]) {
  return (one: {
    readonly id: string
    readonly name: string
    readonly services: readonly string[]
    readonly files: readonly { readonly path: string }[]
  }): boolean => {
    const names = [one.id, one.name, ...one.services, ...one.files.map(({ path }) => path)]
    return what.length === 0 || what.some((word) => names.includes(word))
  }
}

async function confirm({ yes }: AdoptOptions, question: string): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UserError('unconfirmed', 'nobody is there to be asked', { hint: 'give --yes' })
  }
  const isConfirmed = await confirmOn(process.stdin, process.stderr)(`${question} Type yes:`)
  if (!isConfirmed) throw new UserError('unconfirmed', 'nothing was changed', { exitStatus: 2 })
}

async function showOutcomes(
  language: Language,
  outcomes: readonly Outcome[],
  options: AdoptOptions,
): Promise<void> {
  const wanted = options.undo ? 'undone' : 'adopted'
  const ok = outcomes.every(({ result, problems }) => result === wanted && problems.length === 0)
  const lines = outcomes.flatMap(({ id, result, serial, reason, problems }) => {
    const served = serial === null ? [] : [`serial ${serial} is served`]
    const words = [stateIn(language, result), ...served, ...(reason ?? '').split('\n')]
    const [first = '', ...rest] = words.filter((word) => word !== '')
    return [
      `${id}: ${first}`,
      ...rest.map((line) => `  ${line}`),
      ...problems.map((line) => `  ${line}`),
    ]
  })
  if (outcomes.some(({ result }) => result === 'waiting')) {
    lines.push('nothing was changed for what waits: run the command again')
  }
  if (lines.length === 0) lines.push('there is nothing to take over')
  await print({ ok, adoptions: outcomes }, options, lines.join('\n'))
  if (!ok) process.exitCode = 1
}

function say(line: string): void {
  process.stderr.write(`${printableLines(line)}\n`)
}
