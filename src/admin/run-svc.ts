// `svc` from its arguments to its exit status. All that a process has comes in as an argument: tests run it in their own.

import type { Readable, Writable } from 'node:stream'
import { invariant, UserError } from '../platform/errors.ts'
import { printable, printableLines } from '../platform/printable.ts'
import { exitStatusOf, reportFailure } from '../platform/program.ts'
import { redactTokens } from '../platform/redact-tokens.ts'
import { withSettingsOf } from '../platform/settings-file.ts'
import { beginStep, parseTraceparent, withTrace } from '../platform/trace.ts'
import { HUB_SETTINGS } from '../protocol/hub-settings.ts'
import type { CommandContext } from './commands/command-context.ts'
import { runCommandLine } from './commands/program.ts'
import { openBackupFile, type OpenedFile } from './doors/open-backup-file.ts'
import {
  findHubAddress,
  findRemoteHub,
  type HubOptions,
  type RemoteHub,
} from './doors/hub-options.ts'
import type { Surroundings } from './doors/open-vault.ts'
import { Output } from './terminal/output.ts'
import { readLanguage } from './terminal/read-language.ts'

/** Put in place by the build of the svc that is installed alone, without what it opens a vault with. */
declare const SVC_BUILD_ALONE: true | undefined

/** The word that starts svc as the keeper of recipients.json, before the file's path; for nobody but svc itself. */
const KEEPER_COMMAND = '__keep-recipients'

export interface Invocation extends Surroundings {
  readonly args: readonly string[]
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  /** What starts this program. */
  readonly command: readonly string[]
  /** Asks a person for a yes; where svc runs on a terminal. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined
  /** Resolves when somebody ends the program. */
  readonly untilEnded: () => Promise<void>
  readonly ending?: () => AbortSignal
  /** Lets other programs go first from here on, where this process is svc's own. */
  readonly giveWay?: (() => Promise<void>) | undefined
}

/** Answers the exit status; a failure is told on stderr. */
export async function runSvc(invocation: Invocation): Promise<number> {
  const { args, stdin, stderr, clock, progress } = invocation
  let exitStatus = 0
  const exitWith = (status: number): void => {
    exitStatus = status
  }
  try {
    const [word, pinFile] = args
    if (word === KEEPER_COMMAND && pinFile !== undefined) {
      const { keepPins } = await import('./sealed/pin-keeper.ts')
      await keepPins(stdin, pinFile, clock)
    } else {
      const trace = parseTraceparent(invocation.env['TRACEPARENT']) ?? beginStep(undefined)
      await withTrace(trace, () => runCommandLine(args, { ...createContext(invocation), exitWith }))
    }
    progress.clear()
    return exitStatus
  } catch (error) {
    progress.clear()
    reportFailure('svc', error, stderr)
    return exitStatusOf(error)
  }
}

/** Nothing is loaded before its first use: `svc --version` and mistakes in the arguments need no vault. */
function createContext(invocation: Invocation): CommandContext {
  const { stdin, stdout, stderr, clock, progress, userId, command } = invocation
  let { env } = invocation
  let settings: readonly string[] = []
  let settingsPath: string = HUB_SETTINGS.path
  let settingsFailure: UserError | undefined
  let remote: RemoteHub | undefined
  let hubOptions: HubOptions = {}
  // One of them remembers the passphrase.
  let controls: ReturnType<typeof openControls> | undefined
  const openControls = async () => {
    // Written out at each place: the build leaves out what comes after.
    if (typeof SVC_BUILD_ALONE === 'boolean') throw hubMissing()
    const { openVaultControls } = await import('./doors/open-vault.ts')
    return openVaultControls({ ...invocation, env })
  }
  const loadControls = () => (controls ??= openControls())
  const loadVaultControls = () => {
    if (remote === undefined) return loadControls()
    throw vaultElsewhere()
  }
  const loadBackupUses = () => {
    // Written out at each place: the build leaves out what comes after.
    if (typeof SVC_BUILD_ALONE === 'boolean') throw hubMissing()
    if (remote !== undefined) throw vaultElsewhere()
    return import('./doors/use-backup.ts')
  }
  const loadStandby = async () => {
    // Written out at each place: the build leaves out what comes after.
    if (typeof SVC_BUILD_ALONE === 'boolean') throw hubMissing()
    if (remote !== undefined) throw vaultElsewhere()
    return (await import('./doors/standby.ts')).standbyControls({ ...invocation, env })
  }
  const usingBackup = async <T>(
    name: string,
    work: (source: OpenedFile) => Promise<T>,
  ): Promise<T> => {
    const source = await openBackupFile(name, stdin)
    try {
      return await work(source)
    } finally {
      await source.close()
    }
  }
  const findRemote = async (options: HubOptions): Promise<RemoteHub | undefined> => {
    if (findHubAddress(options, env) === undefined) return undefined
    const { openKeptLogins } = await import('./doors/kept-logins.ts')
    return findRemoteHub(options, { env, userId, logins: openKeptLogins(env), now: clock.now() })
  }
  const output = new Output(stdout)
  return {
    output,
    clock,
    progress,
    note: (text) => void stderr.write(`svc: ${redactTokens(printableLines(text))}\n`),
    confirm: invocation.confirm,
    useOptions: async (options, use) => {
      hubOptions = options
      settings = options.config === undefined ? [] : ['--config', options.config]
      settingsPath = options.config ?? settingsPath
      try {
        env = withSettingsOf(env, HUB_SETTINGS, options.config)
      } catch (error) {
        if (use !== 'examines' || !(error instanceof UserError)) throw error
        settingsFailure = error
      }
      output.language = readLanguage(env)
      if (use !== 'signs_in') remote = await findRemote(options)
    },
    openSignIn: async () => {
      const { openKeptLogins } = await import('./doors/kept-logins.ts')
      const { hasBrowser, openInBrowser } = await import('./terminal/open-in-browser.ts')
      const { askLineOn } = await import('./terminal/ask-line.ts')
      const { tokenFile = env['SVC_HUB_TOKEN_FILE'] } = hubOptions
      return {
        named: findHubAddress(hubOptions, env),
        tokenFile: tokenFile || undefined,
        logins: openKeptLogins(env),
        findRemote: async (url) => {
          const found = await findRemote({ ...hubOptions, hub: url.origin })
          invariant(found !== undefined, 'the hub is named')
          return found
        },
        hasBrowser: hasBrowser(env),
        openBrowser: (url) => openInBrowser(url, env),
        askLine: (question, signal) => askLineOn(stdin, stderr, question, signal),
        show: (line) => void stderr.write(`${printable(line)}\n`),
      }
    },
    openScene: async () => {
      if (remote !== undefined) {
        const { openRemoteScene } = await import('./doors/open-remote-scene.ts')
        return openRemoteScene(remote, clock)
      }
      if (typeof SVC_BUILD_ALONE === 'boolean') throw hubMissing()
      const { openLocalScene } = await import('./doors/open-scene.ts')
      return openLocalScene({ env, clock, userId, settingsPath, settingsFailure })
    },
    vault: {
      create: async () => (await loadVaultControls()).create(),
      checkPassphrase: async () => (await loadVaultControls()).checkPassphrase(),
      withBackup: async (options, work) => {
        await invocation.giveWay?.()
        if (!options.isForFile || userId !== 0 || remote !== undefined) {
          return (await loadVaultControls()).withBackup(options, work)
        }
        const { readOutputOf } = await import('./doors/read-output-of.ts')
        return work(readOutputOf([...command, ...settings, 'backup', '-'], env))
      },
      verifyBackup: async (file, how) => {
        const { verifyBackupFrom } = await loadBackupUses()
        return usingBackup(file, (source) => verifyBackupFrom({ ...invocation, env }, source, how))
      },
      restore: async (file, recoveryIdentity) => {
        const { restoreVaultFrom } = await loadBackupUses()
        return usingBackup(file, (source) =>
          restoreVaultFrom({ ...invocation, env }, source, recoveryIdentity),
        )
      },
      changePassphrase: async (change) => (await loadVaultControls()).changePassphrase(change),
      addRecoveryKey: async (key) => (await loadVaultControls()).addRecoveryKey(key),
      removeRecoveryKey: async (key) => (await loadVaultControls()).removeRecoveryKey(key),
      rekey: async (wanted) => (await loadVaultControls()).rekey(wanted),
      compact: async () => (await loadVaultControls()).compact(),
      migrate: async (migration) => (await loadVaultControls()).migrate(migration),
      standby: {
        init: async (file) => (await loadStandby()).init(file),
        status: async () => (await loadStandby()).status(),
        promote: async (force) => (await loadStandby()).promote(force),
      },
      join: async (file) => {
        // Written out at each place: the build leaves out what comes after.
        if (typeof SVC_BUILD_ALONE === 'boolean') throw hubMissing()
        if (remote !== undefined) throw vaultElsewhere()
        const { joinFrom } = await import('./doors/share-vault.ts')
        return joinFrom({ ...invocation, env }, file)
      },
      listRecoveryKeys: async () => (await loadVaultControls()).listRecoveryKeys(),
    },
    withAdmin: async (work, options) => {
      if (remote === undefined) return (await loadControls()).withAdmin(work, options)
      const { openRemoteHub } = await import('./doors/remote-hub.ts')
      return work(openRemoteHub(remote))
    },
    byOwner: () => {
      if (userId !== 0 || remote !== undefined) return undefined
      return async function* (args, input) {
        const { readOutputOf } = await import('./doors/read-output-of.ts')
        yield* readOutputOf([...command, ...settings, ...args], env, input)
      }
    },
    openSecret: async (name) => (await import('./sealed/secret-source.ts')).openSecret(name, stdin),
    openConsoleDoor: async () => {
      if (remote === undefined && userId === 0) throw servedByRoot()
      const { openPins, pinsPlace } = await import('./sealed/open-pins.ts')
      const { openPortLine, openSocketLine } = await import('./doors/hub-line.ts')
      const { openInBrowser } = await import('./terminal/open-in-browser.ts')
      const own = { env, clock, command: [], isRoot: false }
      const openBrowser = (link: string) => openInBrowser(link, env)
      const pins = { openPins: () => openPins(own), pinsPath: pinsPlace(env), openBrowser }
      if (remote !== undefined) return { line: openPortLine(remote), ...pins }
      if (typeof SVC_BUILD_ALONE === 'boolean') throw hubMissing()
      const { adminSocketOf } = await import('./doors/open-vault.ts')
      const line = await openSocketLine(adminSocketOf(env))
      if (line === undefined) throw hubSilent()
      return { line, ...pins }
    },
    untilEnded: invocation.untilEnded,
    ending: invocation.ending,
    openPins: async () => {
      const { openPins } = await import('./sealed/open-pins.ts')
      const keeper = [...command, KEEPER_COMMAND]
      return openPins({ env, clock, command: keeper, isRoot: userId === 0 })
    },
  }
}

function vaultElsewhere(): UserError {
  return new UserError('vault_elsewhere', 'this command works on the vault itself, not on a hub', {
    hint: 'leave out --hub and unset SVC_HUB, on the machine that has the vault',
  })
}

/** A browser, and what a page asks for, has no business with root's rights; and the pins are to be those of a person. */
function servedByRoot(): UserError {
  return new UserError(
    'console_as_root',
    'svc serves the console of this machine’s hub not as root',
    {
      hint: 'start it as the owner of the vault, or with --hub and a login or an admin token as yourself',
    },
  )
}

function hubSilent(): UserError {
  return new UserError('hub_needed', 'the console needs a running hub, and none answers here', {
    hint: 'start svc-server, or name a hub with --hub',
  })
}

function hubMissing(): UserError {
  return new UserError(
    'hub_missing',
    'this svc is installed without a hub, and works through one',
    {
      hint: 'name it with --hub https://hub.example.org:8445 (SVC_HUB), after svc login or with --token-file',
    },
  )
}
