// svc-server: the hub. No argument runs it.

import { parseArgs } from 'node:util'
import { UserError, describeError } from '../platform/errors.ts'
import { reportFailure, runProgram } from '../platform/program.ts'
import { writeOut } from '../platform/standard-output.ts'
import { readVersion } from '../platform/version.ts'
import { HUB_SETTINGS } from '../protocol/hub-settings.ts'

const PROGRAM = 'svc-server'

void runProgram(PROGRAM, async () => {
  const { help, version, config, check, json, standby } = parseArguments()
  if (version) await writeOut(`${PROGRAM} ${readVersion()}\n`)
  else if (help) await writeOut((await import('./help-text.ts')).helpText())
  else if (check) await runCheck(await readSettings(config, standby), json)
  else await serve(await readSettings(config, standby))
})

interface Arguments {
  readonly help: boolean
  readonly version: boolean
  readonly check: boolean
  readonly json: boolean
  readonly config?: string
  readonly standby?: string
}

function parseArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', short: 'V', default: false },
        config: { type: 'string' },
        standby: { type: 'string' },
        check: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    })
    if (values.json && !values.check) throw new Error('--json is for --check')
    return values
  } catch (error) {
    throw new UserError('usage', describeError(error), {
      hint: 'svc-server --help shows its options and its settings',
    })
  }
}

type Settings = Readonly<Record<string, string | undefined>>

async function readSettings(path: string | undefined, hub: string | undefined): Promise<Settings> {
  const { withSettingsOf } = await import('../platform/settings-file.ts')
  const settings = withSettingsOf(process.env, HUB_SETTINGS, path)
  return hub === undefined ? settings : { ...settings, SVC_STANDBY_OF: hub }
}

/** Says what a start would find; exits 1 when anything of it has failed. */
async function runCheck(env: Settings, isJson: boolean): Promise<void> {
  const { checkHub } = await import('./check-hub.ts')
  const { withoutSecrets } = await import('./config.ts')
  const { printableLines } = await import('../platform/printable.ts')
  // Nothing that we start shall find them.
  process.env = withoutSecrets(env)
  const findings = []
  for await (const finding of checkHub(env)) {
    findings.push(finding)
    if (isJson) continue
    const { check, status, message, variable = '' } = finding
    const named = message.includes(variable) ? message : `${variable}: ${message}`
    await writeOut(`${status.padEnd(8)} ${check.padEnd(8)} ${printableLines(named)}\n`)
  }
  const isOk = findings.every(({ status }) => status !== 'failed')
  if (isJson) await writeOut(`${JSON.stringify({ ok: isOk, findings }, undefined, 2)}\n`)
  process.exitCode = isOk ? 0 : 1
}

/** Serves until SIGTERM or SIGINT, then finishes what is under way; a second signal ends it at once. */
async function serve(env: Settings): Promise<void> {
  const { parseHubConfig, withoutSecrets } = await import('./config.ts')
  const { findUnknownVariables, VARIABLE_NAMES } = await import('../protocol/variable-names.ts')
  const { nearMatches } = await import('../platform/near-matches.ts')
  const { createLoggingFromEnvironment } = await import('../platform/logger.ts')
  const { becomeOwnerOf } = await import('../platform/become-owner.ts')
  const { bootHub } = await import('./boot.ts')
  const { giveMemoryBack } = await import('../platform/give-memory-back.ts')
  const logging = await createLoggingFromEnvironment(env)
  const log = logging.forModule('hub.boot')
  const config = parseHubConfig(env)
  for (const variable of findUnknownVariables(env)) {
    const [near] = nearMatches(variable, VARIABLE_NAMES)
    log.warn({ variable, did_you_mean: near }, 'Unknown variable')
  }
  // Nothing that we start or dump shall find them.
  process.env = withoutSecrets(env)
  becomeOwnerOf(config.vaultRoot)

  const stop = new AbortController()
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        log.info({ signal }, 'Stopping')
        stop.abort(new UserError('stopped', `stopped by ${signal} while waiting to start`))
        resolve()
      })
    }
  })
  process.on('uncaughtException', (error) => {
    reportFailure(PROGRAM, error)
    process.exit(1)
  })
  const { isStandby } = await import('./standby/standby-role.ts')
  if (isStandby(config)) {
    const { serveAsStandby } = await import('./serve-as-standby.ts')
    if ((await serveAsStandby(config, logging, stop.signal)) === 'stopped') {
      log.info('Stopped')
      return
    }
  }
  const hub = await bootHub(config, logging, stop.signal)
  giveMemoryBack(stop.signal)
  const failure = await Promise.race([stopped, hub.ended])
  stop.abort(failure)
  await hub.close()
  if (failure !== undefined) throw failure
  log.info('Stopped')
}
