import { plainHex } from '../../pki/certificates.ts'
import { describeError, invariant, UserError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { Secret } from '../../platform/secret.ts'
import { type AgentConfig, STANDARD_INPUT } from '../settings/config.ts'
import { fillSettingsFile } from '../settings/fill-settings.ts'
import { createEnrollClient } from '../hub/enroll-client.ts'
import { readGivenFile, readStandardInput } from '../files/given-files.ts'
import { readTrust } from '../hub/gateway.ts'
import { HubTime } from '../hub/time.ts'
import { describeIdentity, formatInstant } from '../identity/describe-identity.ts'
import { enroll, type EnrollRequest, refuseExistingIdentity } from '../identity/enroll.ts'
import { proveByTpm } from '../identity/prove-by-tpm.ts'
import { prepareDirectories } from '../settings/paths.ts'
import { withTpmTools } from '../tpm/tpm-tools.ts'
import { lockAgent } from '../control/singleton.ts'
import { hubNameOf } from '../identity/host-key.ts'
import { setKnownLogAside } from '../witness/log-watch.ts'
import { readHostKey } from './read-host-key.ts'
import { type Environment, print, startCommand, TOKEN_FILE_BYTES_MAX } from './context.ts'

export interface EnrollOptions {
  /** The administrator's file, and what was given besides: as root, enroll fills in what the file leaves empty. */
  readonly settings: { readonly path: string; readonly given: Environment }
  readonly allowHttp: boolean
  /** As they were typed; none trusts the reply. */
  readonly caFingerprints: readonly string[]
  readonly replace: boolean
  readonly json: boolean
}

export async function runEnroll(env: Environment, options: EnrollOptions): Promise<void> {
  const context = await startCommand('enroll', env, {
    allowHttp: options.allowHttp,
    asRoot: (log) => keepSettings(options.settings, log),
  })
  const { config, paths, version } = context
  const { serverUrl, hostname, role, httpsProxy, noProxy } = config
  invariant(
    serverUrl !== undefined && hostname !== undefined && role !== undefined,
    'enroll requires URL, hostname and role',
  )
  const caFingerprints = parseFingerprints(options.caFingerprints)
  // Before the lock, which a running agent holds.
  if (!options.replace) await refuseExistingIdentity(context)
  await prepareDirectories(paths)
  const lock = lockAgent(paths)
  const trustPem = await readTrust(config.serverCaPath, undefined)
  const hubTime = new HubTime(context.clock)
  const client = createEnrollClient({
    baseUrl: serverUrl,
    trustPem,
    rootFingerprints: caFingerprints,
    httpsProxy,
    noProxy,
    version,
    noteHubTime: (hubNow) => hubTime.note(hubNow),
  })
  try {
    const identity = await enroll(
      { ...context, client, hubTime, log: context.logging.forModule('agent.identity') },
      {
        token: await readShown(env, config, { hostname, role }),
        hubs: [serverUrl, ...(config.mtlsUrl ? [config.mtlsUrl] : [])].map(hubNameOf),
        hostname,
        role,
        caFingerprints,
        trustKey: config.trustKey,
        replace: options.replace,
      },
    )
    // It may be another hub.
    await setKnownLogAside(paths, context.clock.now())
    const { serial, notAfter } = identity.leaf
    await print(
      await describeIdentity(identity, paths),
      options,
      `enrolled ${hostname}\ncert serial: ${serial}\nnot_after: ${formatInstant(notAfter)}`,
    )
  } finally {
    await client.close()
    lock.release()
  }
}

/** The agent that starts next reads the file. It is not worth a token: what cannot be kept is said, and no more. */
async function keepSettings(
  { path, given }: EnrollOptions['settings'],
  log: Logger,
): Promise<void> {
  try {
    const { filled = [], different = [] } = (await fillSettingsFile(path, given)) ?? {}
    if (filled.length > 0) log.info({ path, settings: filled }, 'Settings kept')
    if (different.length > 0) {
      log.warn(
        { path, settings: different },
        'The settings file says otherwise, and is what the service reads',
      )
    }
  } catch (error) {
    log.warn({ path, reason: describeError(error) }, 'Settings cannot be kept')
  }
}

async function readShown(
  env: Environment,
  config: AgentConfig,
  host: Pick<EnrollRequest, 'hostname' | 'role'>,
): Promise<EnrollRequest['token']> {
  if (config.enrollByTpm) {
    return {
      method: 'tpm',
      prove: (asked) => withTpmTools(env, (tools) => proveByTpm(tools, { ...host, ...asked })),
    }
  }
  return config.hostKey ? readHostKey(config.hostKey) : readToken(config)
}

async function readToken({ enrollToken, enrollTokenFile }: AgentConfig): Promise<Secret<string>> {
  if (enrollToken !== undefined) return enrollToken
  invariant(enrollTokenFile !== undefined, 'enroll requires a token')
  const isPiped = enrollTokenFile === STANDARD_INPUT
  const source = isPiped ? 'the standard input' : enrollTokenFile
  const given = isPiped
    ? readStandardInput(TOKEN_FILE_BYTES_MAX)
    : await readGivenFile(enrollTokenFile, TOKEN_FILE_BYTES_MAX)
  const text = given?.trim()
  if (text === undefined || text === '') {
    const fault = text === undefined ? 'not found' : 'empty'
    throw new UserError('token_file', `read enrolment token from ${source}: ${fault}`, {
      hint: 'see SVC_ENROLL_TOKEN_FILE',
    })
  }
  return new Secret(text)
}

function parseFingerprints(texts: readonly string[]): ReadonlySet<string> | undefined {
  return texts.length === 0 ? undefined : new Set(texts.map(parseFingerprint))
}

function parseFingerprint(text: string): string {
  const hex = plainHex(text.replace(/^sha256:/i, ''))
  if (/^[0-9a-f]{64}$/.test(hex)) return hex
  throw new UserError('fingerprint_invalid', '--ca-fingerprint is not a SHA-256 in hex')
}
