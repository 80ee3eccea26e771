import { stat } from 'node:fs/promises'
import { isatty } from 'node:tty'
import { describeError, errnoCode, SvcError, UserError } from '../../platform/errors.ts'
import { createPublicConnections } from '../hub/enroll-client.ts'
import { askVersion } from '../update/ask-version.ts'
import { decideRelease, describeNotNewer, isNewer } from '../update/decide-release.ts'
import type { AgentConfig } from '../settings/config.ts'
import type { AgentPaths } from '../settings/paths.ts'
import type { UpdateOutcome, UpdateRequest } from '../update/update-request.ts'
import {
  download,
  type DownloadOptions,
  parseReleaseUrl,
  releaseFileUrl,
} from '../update/download.ts'
import { downloadProgress } from '../update/download-progress.ts'
import { installRelease, type Release } from '../update/install-release.ts'
import { lockUpdate } from '../update/lock-update.ts'
import {
  type MinisignPublicKey,
  parseMinisignPublicKey,
  SIGNATURE_FILE_BYTES_MAX,
} from '../../trust/minisign.ts'
import { readLastOutcome, type Restart, restartRunningAgent } from '../update/restart-agent.ts'
import { leaveOutcome, takeRequest } from '../update/take-request.ts'
import { nodeUpdateFiles, updateNames } from '../update/update-files.ts'
import { resolveUpdateTarget } from '../update/update-target.ts'
import { type CommandContext, type Environment, print, startCommand } from './context.ts'

export interface SelfUpdateOptions {
  readonly url: string
  /** Undefined means the executable that runs. */
  readonly binary: string | undefined
  readonly allowDowngrade: boolean
  readonly json: boolean
}

export type AnnouncedUpdateOptions = Pick<SelfUpdateOptions, 'binary' | 'json'>

/** Put in place by the build; a program that runs from its source has none. */
declare const SVC_RELEASE_PUBLIC_KEY: string | undefined

const RELEASE_FILE = 'svc-agent'
const BINARY_BYTES_MAX = 256 * 1024 * 1024
const DOWNLOAD_TIMEOUT_MS = 30 * 60_000
const SILENCE_MS_MAX = 30_000

const RESTART_WORDS: Readonly<Record<Restart, string>> = {
  restarting: 'the running agent ends now, and its supervisor starts the new version',
  not_supervised: 'restart the agent: the running agent is still the old version',
  not_running: 'no agent is running',
  failed: 'the running agent did not answer: restart it',
}

/** Keeps the rights that it was started with: an executable is not the data directory's owner's to replace. */
export async function runSelfUpdate(env: Environment, options: SelfUpdateOptions): Promise<void> {
  const { binary, allowDowngrade } = options
  const publicKey = requireReleaseKey()
  const baseUrl = parseReleaseUrl(options.url, { architecture: process.arch })
  const context = await startCommand('self-update', env, { keepsRights: true })
  await update(context, {
    binary,
    publicKey,
    allowDowngrade,
    baseUrlFor: () => baseUrl,
    whenInstalled: async (updated) =>
      report({ ...updated, restart: await restartRunningAgent(context.paths) }, options),
  })
}

/**
 * What the running agent left as its request: a version, and only one that is newer. Where it is taken from the settings of this host say. The
 * agent, which asks, is told how it ended. docs/protocol.md UPD-26.
 */
export async function runAnnouncedUpdate(
  env: Environment,
  options: AnnouncedUpdateOptions,
): Promise<void> {
  const context = await startCommand('self-update', env, { keepsRights: true })
  const { config, paths } = context
  const request = await takeRequest(paths)
  if (request === undefined) return print({ requested: null }, options, 'no update is asked for')
  const { version: wantedVersion } = request
  let isInstalled = false
  try {
    const updateUrl = requirePermission(config)
    await update(context, {
      binary: options.binary,
      publicKey: requireReleaseKey(),
      allowDowngrade: false,
      wantedVersion,
      baseUrlFor: (oldVersion) => placeOf(updateUrl, wantedVersion, oldVersion),
      whenInstalled: async (updated) => {
        isInstalled = true
        await tellAgent(paths, { ...request, failure: undefined })
        await report({ ...updated, restart: await restartRunningAgent(paths) }, options)
      },
    })
  } catch (error) {
    if (!isInstalled) await leaveFailure(paths, request, error)
    throw error
  }
}

async function leaveFailure(
  paths: AgentPaths,
  request: UpdateRequest,
  error: unknown,
): Promise<void> {
  const failure =
    error instanceof SvcError
      ? { code: error.code, message: error.message }
      : { code: 'failed', message: describeError(error) }
  await tellAgent(paths, { ...request, failure })
}

/** One that cannot be told sees the new version run, or waits until it calls the update failed itself. */
async function tellAgent(paths: AgentPaths, outcome: UpdateOutcome): Promise<void> {
  await leaveOutcome(paths, outcome).catch((untold: unknown) =>
    process.stderr.write(`svc-agent: the agent cannot be told: ${describeError(untold)}\n`),
  )
}

/** Before root looks at the program, or takes the lock, for a user who may ask for ever. */
function requirePermission({ updateUrl }: AgentConfig): string {
  if (updateUrl !== undefined) return updateUrl
  throw new UserError('not_permitted', 'this host follows no announced updates', {
    hint: 'SVC_AGENT_UPDATE_URL says where announced releases are',
  })
}

/** Before anything is fetched. */
function placeOf(updateUrl: string, version: string, oldVersion: string): URL {
  if (!isNewer(version, oldVersion)) {
    throw new UserError('not_newer', describeNotNewer(version, oldVersion))
  }
  return parseReleaseUrl(updateUrl, { architecture: process.arch, version }, 'SVC_AGENT_UPDATE_URL')
}

interface WantedUpdate {
  readonly binary: string | undefined
  readonly publicKey: MinisignPublicKey
  readonly allowDowngrade: boolean
  readonly wantedVersion?: string
  readonly baseUrlFor: (oldVersion: string) => URL
  /** While no other update, and no watcher, can begin. */
  readonly whenInstalled: (updated: Omit<Report, 'restart'>) => Promise<void>
}

async function update(context: CommandContext, wanted: WantedUpdate): Promise<void> {
  const binary = await resolveUpdateTarget(wanted.binary ?? process.execPath)
  const lock = lockUpdate(binary)
  try {
    const oldVersion = await findVersion(binary, context.version)
    const baseUrl = wanted.baseUrlFor(oldVersion)
    const release = await fetchRelease(context, { ...wanted, baseUrl, oldVersion })
    await install(context, binary, oldVersion, release)
    await wanted.whenInstalled({ binary, oldVersion, release })
  } finally {
    lock.release()
  }
}

function requireReleaseKey(): MinisignPublicKey {
  const publicKey = releasePublicKey()
  if (publicKey !== undefined) return publicKey
  throw new UserError(
    'no_release_key',
    'this build carries no release key to check a release with',
    {
      hint: 'install a release, or build with SVC_RELEASE_PUBLIC_KEY',
    },
  )
}

/** The key that releases are signed with; undefined in a build that was given none, which can install nothing. */
function releasePublicKey(): MinisignPublicKey | undefined {
  if (typeof SVC_RELEASE_PUBLIC_KEY !== 'string') return undefined
  return parseMinisignPublicKey(SVC_RELEASE_PUBLIC_KEY)
}

/** Ours when it is our own executable; another one has to say its own. */
async function findVersion(binary: string, ownVersion: string): Promise<string> {
  const [target, own] = await Promise.all([stat(binary), stat(process.execPath)])
  const isOwn = target.ino === own.ino && target.dev === own.dev
  return isOwn ? ownVersion : askVersion(binary)
}

type Fetching = Pick<WantedUpdate, 'publicKey' | 'allowDowngrade' | 'wantedVersion'> & {
  readonly baseUrl: URL
  readonly oldVersion: string
}

async function fetchRelease(
  { config, version }: CommandContext,
  { baseUrl, publicKey, oldVersion, allowDowngrade, wantedVersion }: Fetching,
): Promise<Release> {
  const { httpsProxy, noProxy } = config
  const connections = createPublicConnections({ trustPem: undefined, httpsProxy, noProxy })
  const bounds: Omit<DownloadOptions, 'bytesMax'> = {
    connections,
    userAgent: `svc-agent/${version}`,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    silenceMsMax: SILENCE_MS_MAX,
  }
  const progress = downloadProgress((text) => process.stderr.write(text), {
    isTerminal: isatty(process.stderr.fd),
  })
  try {
    const content = await download(releaseFileUrl(baseUrl, RELEASE_FILE), {
      ...bounds,
      bytesMax: BINARY_BYTES_MAX,
      onProgress: progress.listen,
    })
    const signature = await download(releaseFileUrl(baseUrl, `${RELEASE_FILE}.minisig`), {
      ...bounds,
      bytesMax: SIGNATURE_FILE_BYTES_MAX,
    })
    const verdict = decideRelease({
      publicKey,
      content,
      signature,
      oldVersion,
      architecture: process.arch,
      allowDowngrade,
      wantedVersion,
    })
    if (verdict.ok) return { content, version: verdict.version }
    throw new UserError(verdict.code, verdict.message, { hint: verdict.hint })
  } finally {
    progress.end()
    await connections.destroy()
  }
}

async function install(
  { paths, clock }: CommandContext,
  binary: string,
  oldVersion: string,
  release: Release,
): Promise<void> {
  const oldOutcome = await readLastOutcome(paths, oldVersion)
  const work = installRelease(release, {
    binary,
    oldVersion,
    oldOutcome,
    at: clock.now(),
    files: nodeUpdateFiles,
    askVersion,
    refusal: (answer) =>
      new UserError(
        'version_differs',
        `the new executable says that it is ${JSON.stringify(answer.slice(0, 64))}, its signature says ${release.version}`,
      ),
  })
  await work.catch((error: unknown) => {
    if (errnoCode(error) === undefined || error instanceof SvcError) throw error
    throw new UserError('not_replaced', `cannot replace ${binary}: ${describeError(error)}`, {
      cause: error,
    })
  })
}

interface Report {
  readonly binary: string
  readonly oldVersion: string
  readonly release: Release
  readonly restart: Restart
}

async function report(
  { binary, oldVersion, release, restart }: Report,
  options: { readonly json: boolean },
): Promise<void> {
  const { old } = updateNames(binary)
  await print(
    { binary, old_version: oldVersion, new_version: release.version, old_binary: old, restart },
    options,
    [
      `updated ${binary} from ${oldVersion} to ${release.version}`,
      `the old one is ${old}`,
      RESTART_WORDS[restart],
    ].join('\n'),
  )
}
