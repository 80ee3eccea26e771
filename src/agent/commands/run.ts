import { flushCompileCache } from 'node:module'
import { constants } from 'node:os'
import { describeError, invariant, SvcError } from '../../platform/errors.ts'
import type { FileLock } from '../../platform/file-lock.ts'
import { giveMemoryBack } from '../../platform/give-memory-back.ts'
import { serveControlSocket } from '../control/control-socket.ts'
import { createHookRunner, type HookRunner } from '../delivery/hook-runner.ts'
import { ownHome } from '../delivery/run-hook.ts'
import { requireIdentity } from '../identity/identity.ts'
import { prepareDirectories } from '../settings/paths.ts'
import { openPollState, pollOnce, type PollResult, type PollState } from '../round/poll.ts'
import type { AgentMeters } from '../reporting/serve-metrics.ts'
import { type AgentStatus, readStatus, type StatusParts } from '../reporting/status.ts'
import { createRunLoop, type RunLoop } from '../round/run-loop.ts'
import { type AgentSession, openSession, rotateAndReport } from '../identity/session.ts'
import type { HubFollower } from '../stream/follow-hub.ts'
import { createPacedWake } from '../stream/paced-wake.ts'
import { lockAgentWhenFree, viaRunningAgentOr } from '../control/singleton.ts'
import { recordLastRound } from '../update/round-outcome.ts'
import type { RestartReply } from '../update/restart-agent.ts'
import { takeTargetReport } from '../targets/agent-targets.ts'
import { readHostLabels } from '../reporting/host-labels.ts'
import { queueStart } from '../hub/queue-start.ts'
import { type CommandContext, type Environment, startCommand } from './context.ts'
import { followStream } from './follow-stream.ts'
import { reportOf } from './rotate.ts'

const RESTART_DELAY_MS = 100
const FIRST_PROCESS = 1

/**
 * Ends by a signal, at once and by its default action, or when it is asked to restart: every state on disk is safe at
 * every instant.
 */
export async function runRun(env: Environment): Promise<void> {
  const context = await startCommand('run', env)
  const { paths, clock, random, logging } = context
  await requireIdentity(paths.identityDir)
  await prepareDirectories(paths)
  let loop: RunLoop | undefined
  // From the first moment: left to itself the signal would end us.
  process.on('SIGHUP', () => loop?.wake())
  if (process.pid === FIRST_PROCESS) endBySignals()
  // Held until the process ends.
  const lock = await lockAgentWhenFree(paths, clock, logging.forModule('agent'))
  const meters = await openMeters(context)
  const { session, state } = await boot(context, lock, meters)
  // A hook that hangs must not keep the next round waiting.
  state.deliveries.hooks.driveItself()
  const started = createRunLoop({
    clock,
    random,
    intervalMs: context.config.pollIntervalMs,
    log: state.log,
    poll: () => {
      const round = recorded(context, pollOnce(state, { hooks: 'beside' }))
      return meters?.watchRound(round) ?? round
    },
  })
  loop = started
  const stream = context.config.hasStream ? followStream(context, session, started) : undefined
  const status = () => readStatus(paths, statusParts(state, started, stream))
  await serveMetrics(context, meters, state, started, status)
  const tellSoon = createPacedWake(clock, () => started.wake())
  await serveControlSocket(
    paths.dataDir,
    paths.socketName,
    {
      rotate: async () => reportOf(await rotateAndReport(session)),
      status,
      poll: () => started.pollNow().then(reportRound),
      restart: () => Promise.resolve(restart(context)),
      report: (report) => takeTargetReport(state.deliveries, report).then(tellSoon),
    },
    logging.forModule('agent'),
  )
  void stream?.run()
  giveMemoryBack()
  // A signal ends us before Node would write it; without one, as in a single executable, nothing is written.
  flushCompileCache()
  await started.run()
}

/** The kernel ends the first process of a container by no signal that it does not handle. docs/protocol.md AGT-3, AGT-22. */
function endBySignals(): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => process.exit(128 + constants.signals[signal]))
  }
}

/** Tells the watcher of a new version how a round ended; a disk that is full does not end the agent. */
async function recorded(
  { paths, version, clock, logging }: CommandContext,
  round: Promise<PollResult>,
): Promise<PollResult> {
  const result = await round
  const { outcome } = result
  await recordLastRound(paths.stateDir, { version, outcome }, clock.now()).catch(
    (error: unknown) => {
      const reason = describeError(error)
      logging.forModule('agent').warn({ reason }, 'Outcome of the round cannot be kept')
    },
  )
  return result
}

/** Ends soon, when a service manager will start us again: until then the answer is on its way. */
function restart({ config, clock, logging }: CommandContext): RestartReply {
  if (!config.isSupervised) return { restarting: false }
  logging.forModule('agent').info('Ending, for its supervisor to start it again')
  void clock.sleep(RESTART_DELAY_MS).then(() => process.exit(0))
  return { restarting: true }
}

/** One round; fails when anything in it did. */
export async function runOnce(env: Environment): Promise<void> {
  const context = await startCommand('run', env)
  const { paths, clock, logging } = context
  await requireIdentity(paths.identityDir)
  await prepareDirectories(paths)
  const lock = await lockAgentWhenFree(paths, clock, logging.forModule('agent'))
  try {
    reportRound(await recorded(context, roundAlone(context, lock)))
  } finally {
    lock.release()
  }
}

/** A round of the running agent, else one of our own. */
export async function runPoll(env: Environment): Promise<void> {
  const context = await startCommand('poll', env)
  await requireIdentity(context.paths.identityDir)
  await viaRunningAgentOr(context.paths, context.clock, 'poll', async (lock) =>
    reportRound(await roundAlone(context, lock)),
  )
}

async function roundAlone(context: CommandContext, lock: FileLock): Promise<PollResult> {
  const { session, state } = await boot(context, lock)
  try {
    return await pollOnce(state)
  } finally {
    await session.hub.close()
  }
}

/** The library is loaded by agents that have metrics only. */
async function openMeters({ config }: CommandContext): Promise<AgentMeters | undefined> {
  if (config.metricsBind === undefined) return undefined
  const { createAgentMeters } = await import('../reporting/serve-metrics.ts')
  return createAgentMeters()
}

async function serveMetrics(
  { config, clock, logging, version }: CommandContext,
  meters: AgentMeters | undefined,
  state: PollState,
  loop: RunLoop,
  status: () => Promise<AgentStatus>,
): Promise<void> {
  const address = config.metricsBind
  if (address === undefined || meters === undefined) return
  const { serveAgentMetrics } = await import('../reporting/serve-metrics.ts')
  const log = logging.forModule('agent.metrics')
  try {
    const { address: bound } = await serveAgentMetrics(address, {
      meters,
      clock,
      log,
      version,
      pollIntervalMs: config.pollIntervalMs,
      readStatus: status,
      lastResult: () => loop.lastResult,
      hubTime: state.session.hubTime,
      logWatch: state.session.logWatch,
      targets: state.targets,
    })
    log.info({ address: `${bound.host}:${bound.port}`, port: bound.port }, 'Metrics listening')
  } catch (error) {
    // What is renewed matters more than who counts it.
    const fields = { address: `${address.host}:${address.port}`, reason: describeError(error) }
    log.error(fields, 'Metrics not served, SVC_AGENT_METRICS_BIND sets another address')
  }
}

async function boot(
  context: CommandContext,
  lock: FileLock,
  meters?: AgentMeters,
): Promise<{ session: AgentSession; state: PollState }> {
  const { config, paths, logging, version } = context
  const session = await openSession(context)
  const hooks = hookRunnerOf(context, lock)
  const state = await openPollState(session, meters?.watchHooks(hooks) ?? hooks)
  const identity = await requireIdentity(paths.identityDir)
  const { hostname } = identity
  logging
    .forModule('agent')
    .info(
      { hub: config.mtlsUrl?.href, data_dir: paths.dataDir, hostname, version },
      'Agent started',
    )
  const labels = await readHostLabels(version, config.labels)
  // Best effort: the agent works without it.
  await queueStart(session.outbox, hostname, labels).catch((error: unknown) => {
    const reason = describeError(error)
    logging.forModule('agent').warn({ reason }, 'agent_started cannot be kept')
  })
  return { session, state }
}

function hookRunnerOf({ paths, logging }: CommandContext, lock: FileLock): HookRunner {
  const userId = process.getuid?.()
  invariant(userId !== undefined, 'the agent runs on systems that have users')
  return createHookRunner({
    hookDir: paths.hookDir,
    workingDirectory: paths.outDir,
    userId,
    home: ownHome(),
    lock,
    log: logging.forModule('agent.hook'),
  })
}

function statusParts(
  { processed, session, rootsAlarm }: PollState,
  loop: RunLoop,
  stream: HubFollower | undefined,
): StatusParts {
  return {
    processed,
    outbox: session.outbox,
    now: session.hubTime.now(),
    verdict: session.verdicts.last,
    running: {
      lastResult: loop.lastResult,
      nextPollAt: loop.nextPollAt,
      stream: stream?.state,
      rootsAlarm,
    },
  }
}

function reportRound({ problems }: PollResult): { problems: readonly string[] } {
  if (problems.length === 0) return { problems }
  throw new SvcError('round_incomplete', ['the round is not complete', ...problems].join('\n'))
}
