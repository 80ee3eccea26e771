// What every command that talks to the hub needs: the identity in use, the hub behind it, and the outbox.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Logging } from '../../platform/logger.ts'
import { describeError, invariant } from '../../platform/errors.ts'
import type { RenewalTrigger } from '../../protocol/words.ts'
import type { Random } from '../hub/backoff.ts'
import { NewCertificates } from './certificate-lifetime.ts'
import type { AgentConfig } from '../settings/config.ts'
import type { EnrollClient } from '../hub/enroll-client.ts'
import { type FileOperations, nodeFileOperations } from '../files/file-operations.ts'
import {
  createHubGateway,
  type HubConnections,
  type HubGateway,
  networkConnections,
  readTrust,
} from '../hub/gateway.ts'
import { HubVerdicts } from '../hub/hub-verdict.ts'
import { HubTime } from '../hub/time.ts'
import { adoptPlainIdentity } from './adopt-plain-identity.ts'
import { announceBundle } from './announce-bundle.ts'
import { announceIdentity } from './announce-identity.ts'
import { type Identity, identityLayout, requireIdentity } from './identity.ts'
import { KeptReceipt } from './kept-receipt.ts'
import { removeFulfilledRequest } from './pending-request.ts'
import { recoverIdentity } from './recover-identity.ts'
import { HubRefusedError, renewIdentity, type RenewalOutcome } from './renew-identity.ts'
import { type AgentPaths, agentPaths, prepareDirectories } from '../settings/paths.ts'
import { KnownFiles } from '../files/known-files.ts'
import { openOutbox, type Outbox } from '../hub/outbox.ts'
import { createSerialQueue, type SerialQueue } from '../../platform/serial-queue.ts'
import { LogWatch, readKnownLog } from '../witness/log-watch.ts'
import { createReceiptKeeper } from '../witness/receipts.ts'
import { syncLayout } from '../files/versioned-files.ts'

export interface AgentSession {
  readonly config: AgentConfig
  readonly paths: AgentPaths
  readonly clock: Clock
  readonly random: Random
  readonly logging: Logging
  readonly version: string
  readonly connections: HubConnections
  readonly hub: HubGateway
  readonly hubTime: HubTime
  /** What the hub says of the identity. */
  readonly verdicts: HubVerdicts
  readonly newCertificates: NewCertificates
  readonly outbox: Outbox
  /** What the agent has seen of the hub's audit log. */
  readonly logWatch: LogWatch
  /** What the hub signed of the identity. */
  readonly receipt: KeptReceipt
  /** Read before. */
  readonly knownIdentity: KnownFiles<Identity>
  /** Of the identities that the agent read, the ones that a power cut can no longer take away. */
  readonly durableIdentities: WeakSet<Identity>
  /** Renewals, asked for or automatic, come one after the other. */
  readonly identityTurns: SerialQueue
}

export type SessionOptions = Pick<
  AgentSession,
  'config' | 'clock' | 'random' | 'logging' | 'version'
> &
  // The network, unless something stands in for it.
  Partial<Pick<AgentSession, 'connections'>>

export interface Rotation {
  readonly oldSerial: string
  readonly newSerial: string
}

/** Throws the specification's message when there is no identity. */
export async function openSession(options: SessionOptions): Promise<AgentSession> {
  const { config, logging, version, connections = networkConnections } = options
  const paths = agentPaths(config)
  await requireIdentity(paths.identityDir)
  await prepareDirectories(paths)
  invariant(config.mtlsUrl !== undefined, 'the command requires SVC_SERVER_MTLS_URL')
  const hubTime = new HubTime(options.clock)
  const verdicts = new HubVerdicts(options.clock, paths.stateDir)
  const logWatch = new LogWatch(paths, await readKnownLog(paths))
  const keepReceipt = createReceiptKeeper({
    path: paths.receiptsFile,
    clock: options.clock,
    log: logging.forModule('agent.outbox'),
  })
  const session: AgentSession = {
    ...options,
    connections,
    paths,
    hubTime,
    newCertificates: new NewCertificates(hubTime),
    hub: createHubGateway({
      baseUrl: config.mtlsUrl,
      serverCaPath: config.serverCaPath,
      version,
      instance: randomBytes(8).toString('hex'),
      connections,
      noteHubTime: (hubNow) => hubTime.note(hubNow),
      noteCheckpoint: (note) => logWatch.noteCheckpoint(note),
      noteAnswer: (sha256, answer) => verdicts.note(sha256, answer),
    }),
    verdicts,
    logWatch,
    outbox: await openOutbox(
      paths.outboxDir,
      logging.forModule('agent.outbox'),
      async (recorded) => {
        logWatch.noteEvent(options.clock.now())
        await keepReceipt(recorded)
      },
    ),
    receipt: new KeptReceipt(paths.identityReceiptFile),
    knownIdentity: new KnownFiles(options.clock),
    durableIdentities: new WeakSet(),
    identityTurns: createSerialQueue(),
  }
  await adoptRestoredIdentity(session)
  await takeUpIdentity(session)
  return session
}

/** The identity that is on disk now, in use from the next request on, and reported if it is new. */
export async function takeUpIdentity(
  session: AgentSession,
  files: FileOperations = nodeFileOperations,
): Promise<Identity> {
  const { config, paths, hub, outbox, logging, knownIdentity, durableIdentities } = session
  const identity = await requireIdentity(paths.identityDir, knownIdentity)
  // Its first use ends the one before it at the hub: it must not be gone after a power cut.
  if (!durableIdentities.has(identity)) {
    await syncLayout(identityLayout(paths.identityDir), files)
    durableIdentities.add(identity)
  }
  await hub.useIdentity(identity)
  await announceIdentity(identity, outbox, paths.announcedIdentityFile).catch((error: unknown) => {
    // Said again at the next use; a state directory that cannot be written holds up neither polls nor renewals.
    const reason = describeError(error)
    logging.forModule('agent.identity').warn({ reason }, 'Renewal cannot be reported yet')
  })
  await announceBundle(identity, config.serverCaPath, outbox, paths.announcedBundleFile).catch(
    (error: unknown) => {
      const reason = describeError(error)
      logging.forModule('agent.trust').warn({ reason }, 'Roots cannot be reported yet')
    },
  )
  return identity
}

/** A backup that was put back as plain files becomes a version, which can be renewed. */
export function adoptRestoredIdentity({
  paths,
  logging,
  identityTurns,
}: AgentSession): Promise<void> {
  return identityTurns.run(async () => {
    if (!(await adoptPlainIdentity(paths.identityDir))) return
    logging.forModule('agent.identity').info('Identity restored from plain files')
  })
}

/** Renews now; throws HubRefusedError, HubUnreachableError or WrongCertificateError, and then nothing has changed. */
export function rotateIdentity(session: AgentSession, trigger: RenewalTrigger): Promise<Rotation> {
  const { paths, hub, hubTime } = session
  return changeIdentity(session, trigger, () =>
    renewIdentity({ identityDir: paths.identityDir, hub, hubTime }, trigger),
  )
}

/** As rotateIdentity, for an identity that has expired. */
export function recoverAndTakeUp(session: AgentSession): Promise<Rotation> {
  const { paths, config, hubTime, receipt } = session
  const { mtlsUrl } = config
  invariant(mtlsUrl !== undefined, 'the command requires SVC_SERVER_MTLS_URL')
  return changeIdentity(session, 'recovery', () =>
    withEnrollPort(session, (enrollPort) =>
      recoverIdentity({ paths, enrollPort, hubTime, receipt, audience: hostOf(mtlsUrl) }),
    ),
  )
}

/** Makes the hub say what time it is, where no client certificate is asked for. */
export function askHubTime(session: AgentSession): Promise<void> {
  return withEnrollPort(session, (enrollPort) => enrollPort.askTime())
}

/** Renews or recovers now and reports it as far as the hub lets us; what it does not take now waits in the outbox. */
export async function rotateAndReport(session: AgentSession): Promise<Rotation> {
  try {
    return await rotateNow(session)
  } finally {
    await keepVerdict(session)
  }
}

/** Nothing but `status` needs it. */
export async function keepVerdict({ verdicts, logging }: AgentSession): Promise<void> {
  await verdicts.keep().catch((error: unknown) => {
    const reason = describeError(error)
    logging.forModule('agent').warn({ reason }, 'What the hub said cannot be kept')
  })
}

async function rotateNow(session: AgentSession): Promise<Rotation> {
  const { leaf } = await requireIdentity(session.paths.identityDir)
  const rotation = (await isExpiredForHub(session, leaf.notAfter))
    ? await recoverAndTakeUp(session)
    : await rotateIdentity(session, 'manual')
  await session.outbox.flush(session.hub)
  return rotation
}

/** Asked before our own clock is believed; where nobody answers, the door itself says whether it opens. */
async function isExpiredForHub(session: AgentSession, notAfter: Date): Promise<boolean> {
  const { hubTime } = session
  if (notAfter > hubTime.now()) return false
  const isAnswered = await askHubTime(session).then(
    () => true,
    () => false,
  )
  return (isAnswered || hubTime.skewMs !== undefined) && notAfter <= hubTime.now()
}

function changeIdentity(
  session: AgentSession,
  trigger: RenewalTrigger,
  change: () => Promise<RenewalOutcome>,
): Promise<Rotation> {
  const { outbox, paths } = session
  return session.identityTurns.run(async () => {
    const identity = await takeUpIdentity(session)
    // What could not be written down at its first use must be before there is another renewal to report.
    await announceIdentity(identity, outbox, paths.announcedIdentityFile)
    await removeFulfilledRequest(paths.pendingDir, identity.key.publicKeySpki)
    const outcome = await change()
    if (!outcome.ok) throw new HubRefusedError(outcome)
    session.newCertificates.note(outcome.renewed.leaf)
    await takeUpIdentity(session)
    const rotation = {
      oldSerial: outcome.old.leaf.serial,
      newSerial: outcome.renewed.leaf.serial,
    }
    session.logging
      .forModule('agent.identity')
      .info(
        { old_serial: rotation.oldSerial, new_serial: rotation.newSerial, trigger },
        'Identity renewed',
      )
    return rotation
  })
}

/**
 * Trusted by the system's store, as a proxy may stand before it, and by the identity's own roots: the hub serves it with the
 * certificate that it has on the other port. docs/protocol.md AGT-61.
 */
async function withEnrollPort<Value>(
  { config, version, connections, hubTime, paths, knownIdentity }: AgentSession,
  work: (enrollPort: EnrollClient) => Promise<Value>,
): Promise<Value> {
  const { serverUrl, serverCaPath, httpsProxy, noProxy } = config
  const { caPem } = await requireIdentity(paths.identityDir, knownIdentity)
  invariant(serverUrl !== undefined, 'the command requires SVC_SERVER_URL')
  const enrollPort = connections.createEnrollClient({
    baseUrl: serverUrl,
    trustPem: await readTrust(serverCaPath, undefined),
    furtherTrustPem: caPem,
    httpsProxy,
    noProxy,
    version,
    noteHubTime: (hubNow) => hubTime.note(hubNow),
  })
  try {
    return await work(enrollPort)
  } finally {
    await enrollPort.close()
  }
}

/** Of an IPv6 address without the brackets, as names are written everywhere else. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

export function caPathOf(paths: AgentPaths): string {
  return join(paths.identityDir, 'ca.pem')
}
