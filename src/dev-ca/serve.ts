// Serves the CA of a directory, with a certificate of its own that never runs out.

import { isIP } from 'node:net'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { generateEcP256Key } from '../pki/keys.ts'
import { createApi } from './api.ts'
import { type CaFiles, loadCaDirectory, revocationsPathOf } from './ca-directory.ts'
import { type HttpsServer, type ServerCredentials, startHttpsServer } from './https-server.ts'
import { createIssuer, type Issuer } from './issuer.ts'
import { parseListenAddress } from './listen-address.ts'
import { publicPartOf } from './provisioner.ts'
import { openRevocations } from './revocations.ts'
import { createTokenVerifier } from './token-verifier.ts'
import { BACKDATE_MS, type ValidityLimits } from './validity.ts'

export interface ServeOptions {
  readonly directory: string
  /** Instead of the address that the directory's settings name. */
  readonly listen: string | undefined
  /** Of what it issues. */
  readonly clock: Clock
  /** Of its own certificate, which those who connect check by the machine's; without it the other. */
  readonly serverClock?: Clock
  readonly logger: Logger
  /** Ends the service. */
  readonly signal: AbortSignal
}

export interface RunningDevCa {
  readonly url: string
  /** Resolves when the service has ended. */
  readonly ended: Promise<void>
}

const MINUTE_MS = 60_000
const SERVER_CERTIFICATE_LIFE_MS = 24 * 60 * MINUTE_MS
const DURATION_MS_MIN = 5 * MINUTE_MS
const DURATION_MS_MAX = 24 * 60 * MINUTE_MS

export async function serveDevCa(options: ServeOptions): Promise<RunningDevCa> {
  const { directory, clock, serverClock = clock, logger } = options
  const files = await loadCaDirectory(directory)
  const { settings, provisionerJwk } = files
  const issuer = await createIssuer(files.intermediatePem, files.intermediateKey)
  const api = createApi({
    issuer,
    rootPem: files.rootPem,
    provisionerName: settings.provisionerName,
    provisionerJwk,
    tokens: createTokenVerifier({
      provisionerName: settings.provisionerName,
      provisionerKey: publicPartOf(provisionerJwk),
      dnsNames: settings.dnsNames,
      clock,
    }),
    revocations: await openRevocations(revocationsPathOf(directory)),
    validityLimits: validityLimitsFor(settings.certDurationMs),
    clock,
  })
  const address = parseListenAddress(options.listen ?? settings.listen)
  const issueCredentials = (): Promise<ServerCredentials> =>
    issueServerCertificate(files, issuer, serverClock)
  const server = await startHttpsServer(address, await issueCredentials(), api, logger)
  return { url: server.url, ended: keepServing(server, issueCredentials, options) }
}

/** The usual limits, widened where the CA is asked for longer or shorter certificates by default. */
function validityLimitsFor(defaultDurationMs: number): ValidityLimits {
  return {
    defaultDurationMs,
    durationMsMin: Math.min(DURATION_MS_MIN, defaultDurationMs),
    durationMsMax: Math.max(DURATION_MS_MAX, defaultDurationMs),
  }
}

async function issueServerCertificate(
  { settings, intermediatePem }: CaFiles,
  issuer: Issuer,
  clock: Clock,
): Promise<ServerCredentials> {
  const key = await generateEcP256Key()
  const nowMs = clock.now().getTime()
  const leafPem = await issuer.issueLeaf({
    publicKeySpki: key.publicKeySpki,
    commonName: settings.dnsNames.find((name) => isIP(name) === 0) ?? settings.name,
    sans: settings.dnsNames,
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(nowMs + SERVER_CERTIFICATE_LIFE_MS),
  })
  return { cert: leafPem + intermediatePem, key: key.pem }
}

/** The wall clock is looked at every minute, so that a machine that slept gets a new certificate when it wakes. */
async function keepServing(
  server: HttpsServer,
  issueCredentials: () => Promise<ServerCredentials>,
  { clock, serverClock = clock, logger, signal }: ServeOptions,
): Promise<void> {
  let issuedAtMs = serverClock.now().getTime()
  while (await sleepUnlessAborted(clock, MINUTE_MS, signal)) {
    const ageMs = serverClock.now().getTime() - issuedAtMs
    // One from the future is of no use either: the clock was ahead, and has been set back.
    if (ageMs >= 0 && ageMs < SERVER_CERTIFICATE_LIFE_MS / 2) continue
    server.replaceCredentials(await issueCredentials())
    issuedAtMs = serverClock.now().getTime()
    logger.info('server certificate renewed')
  }
  await server.close()
}

/** False when the sleep was cut short. */
async function sleepUnlessAborted(
  clock: Clock,
  durationMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await clock.sleep(durationMs, signal)
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}
