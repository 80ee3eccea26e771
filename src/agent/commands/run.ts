import { userInfo } from 'node:os'
import { describeError, invariant, SvcError } from '../../platform/errors.ts'
import { serveControlSocket } from '../control-socket.ts'
import { createHookRunner, type HookRunner } from '../delivery/hook-runner.ts'
import { requireIdentity } from '../identity/identity.ts'
import { prepareDirectories } from '../paths.ts'
import { openPollState, pollOnce, type PollResult, type PollState } from '../poll.ts'
import { readStatus, type StatusParts } from '../reporting/status.ts'
import { createRunLoop, type RunLoop } from '../run-loop.ts'
import { type AgentSession, openSession, rotateAndReport } from '../session.ts'
import { lockAgent, viaRunningAgentOr } from '../singleton.ts'
import { agentStarted } from '../wire.ts'
import { EventType } from '../../protocol/words.ts'
import { type CommandContext, type Environment, startCommand } from './context.ts'
import { reportOf } from './rotate.ts'

/** Ends only by a signal, at once and by its default action: every state on disk is safe at every instant. */
export async function runRun(env: Environment): Promise<void> {
  const context = startCommand('run', env)
  const { paths, clock, random, logging } = context
  await requireIdentity(paths.identityDir)
  await prepareDirectories(paths)
  // Held until the process ends.
  lockAgent(paths)
  let loop: RunLoop | undefined
  // From the first moment: left to itself the signal would end us.
  process.on('SIGHUP', () => loop?.wake())
  const { session, state } = await boot(context)
  // A hook that hangs must not keep the next round waiting.
  state.deliveries.hooks.driveItself()
  const started = createRunLoop({
    clock,
    random,
    intervalMs: context.config.pollIntervalMs,
    log: state.log,
    poll: () => pollOnce(state, { hooks: 'beside' }),
  })
  loop = started
  await serveControlSocket(
    paths.dataDir,
    paths.socketName,
    {
      rotate: async () => reportOf(await rotateAndReport(session)),
      status: () => readStatus(paths, statusParts(state, started)),
      poll: () => started.pollNow().then(reportRound),
    },
    logging.forModule('agent'),
  )
  await started.run()
}

/** One round; fails when anything in it did. */
export async function runOnce(env: Environment): Promise<void> {
  const context = startCommand('run', env)
  await requireIdentity(context.paths.identityDir)
  await prepareDirectories(context.paths)
  const lock = lockAgent(context.paths)
  try {
    reportRound(await roundAlone(context))
  } finally {
    lock.release()
  }
}

/** A round of the running agent, else one of our own. */
export async function runPoll(env: Environment): Promise<void> {
  const context = startCommand('poll', env)
  await requireIdentity(context.paths.identityDir)
  await viaRunningAgentOr(context.paths, context.clock, 'poll', async () =>
    reportRound(await roundAlone(context)),
  )
}

async function roundAlone(context: CommandContext): Promise<PollResult> {
  const { session, state } = await boot(context)
  try {
    return await pollOnce(state)
  } finally {
    await session.hub.close()
  }
}

async function boot(context: CommandContext): Promise<{ session: AgentSession; state: PollState }> {
  const { config, paths, logging, version } = context
  const session = await openSession(context)
  const state = await openPollState(session, hookRunnerOf(context))
  const identity = await requireIdentity(paths.identityDir)
  const { hostname } = identity
  logging
    .forModule('agent')
    .info(
      { hub: config.mtlsUrl?.href, data_dir: paths.dataDir, hostname, version },
      'Agent started',
    )
  await queueStart(session, hostname).catch((error: unknown) => {
    const reason = describeError(error)
    logging.forModule('agent').warn({ reason }, 'agent_started cannot be kept')
  })
  return { session, state }
}

/** Best effort; while one waits for a hub that is away, a restart adds none. */
async function queueStart({ outbox }: AgentSession, hostname: string): Promise<void> {
  if (outbox.listWaiting().some(({ type }) => type === EventType.agentStarted)) return
  await outbox.enqueue(agentStarted(hostname))
}

function hookRunnerOf({ paths, logging }: CommandContext): HookRunner {
  const userId = process.getuid?.()
  invariant(userId !== undefined, 'the agent runs on systems that have users')
  return createHookRunner({
    hookDir: paths.hookDir,
    workingDirectory: paths.outDir,
    userId,
    home: ownHome(),
    log: logging.forModule('agent.hook'),
  })
}

/** A user of a container need not be known to the system, and then has no home. */
function ownHome(): string {
  try {
    return userInfo().homedir
  } catch {
    return '/'
  }
}

function statusParts({ processed, session }: PollState, loop: RunLoop): StatusParts {
  return {
    processed,
    outbox: session.outbox,
    now: session.hubTime.now(),
    running: { lastResult: loop.lastResult, nextPollAt: loop.nextPollAt },
  }
}

function reportRound({ problems }: PollResult): { problems: readonly string[] } {
  if (problems.length === 0) return { problems }
  throw new SvcError('round_incomplete', ['the round is not complete', ...problems].join('\n'))
}
