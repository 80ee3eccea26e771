// What the environment says, parsed once at the edge; every problem is named at once, in the table's order.

import { isIPv6 } from 'node:net'
import { join, resolve } from 'node:path'
import { type BindAddress, readBindAddress } from '../../platform/bind-address.ts'
import { parseDurationMs } from '../../platform/durations.ts'
import { UserError } from '../../platform/errors.ts'
import { Secret } from '../../platform/secret.ts'
import { type Hostname, parseHostname } from '../../protocol/identifiers.ts'
import type { Labels } from '../../protocol/labels.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { type Language, parseLanguage } from '../../protocol/spoken-words.ts'
import { findUnknownVariables } from '../../protocol/variable-names.ts'
import {
  AGENT_VARIABLES,
  type AgentCommand,
  type AgentVariable,
  type AgentVariableName,
} from './agent-variables.ts'
import { parseSetLabels } from './parse-labels.ts'
import { parseTrustSetting, type TrustSetting } from './trust-setting.ts'

/** In place of the path of a token. */
export const STANDARD_INPUT = '-'

export interface AgentConfig {
  /** Present in the commands that require it, as are the next three. */
  readonly serverUrl: URL | undefined
  readonly mtlsUrl: URL | undefined
  readonly role: string | undefined
  readonly hostname: Hostname | undefined
  readonly enrollToken: Secret<string> | undefined
  readonly enrollTokenFile: string | undefined
  /** In place of a token. */
  readonly enrollByTpm: boolean
  /** What the host has already, in place of a token. */
  readonly hostKey: HostKeyFiles | undefined
  readonly serverCaPath: string | undefined
  readonly trustKey: TrustSetting
  readonly dataDir: string
  readonly outDir: string
  readonly stateDir: string
  readonly hookDir: string
  readonly targetsDir: string
  /** Undefined where the default counts, which depends on who applies targets: see targetsStateDir. */
  readonly targetsStateDir: string | undefined
  readonly pollIntervalMs: number
  readonly renewalThresholdMs: number
  readonly httpsProxy: string | undefined
  readonly noProxy: string | undefined
  /** Whether `run` holds the hub's stream. */
  readonly hasStream: boolean
  /** Beside what the agent sees itself. */
  readonly labels: Labels
  /** Whether somebody starts the agent again when it ends. */
  readonly isSupervised: boolean
  /** Where announced releases are, with `{version}`; undefined where the host follows no announcements. */
  readonly updateUrl: string | undefined
  /** Undefined where metrics are off. */
  readonly metricsBind: BindAddress | undefined
  /** Of what commands print. */
  readonly language: Language
  /** `SVC_…` variables that the agent does not know, to be warned about. */
  readonly unknownVariables: readonly string[]
}

export type HostKeyFiles =
  | { readonly method: 'x5c'; readonly certificatePath: string; readonly keyPath: string }
  | { readonly method: 'ssh'; readonly keyPath: string }

export interface AgentConfigOptions {
  readonly command: AgentCommand
  readonly osHostname: string
  readonly allowHttp?: boolean
}

const NO_LABELS: Labels = new Map()
const POLL_INTERVAL_MS_MIN = 100
/** Whichever of these is set, enroll needs no SVC_ENROLL_TOKEN. */
const TOKEN_STAND_INS = [
  'SVC_ENROLL_TOKEN_FILE',
  'SVC_ENROLL_HOST_CERTIFICATE',
  'SVC_ENROLL_SSH_HOST_KEY',
] as const

/** Throws a UserError that names every missing or wrong variable, one a line. */
export function parseAgentConfig(
  env: Readonly<Record<string, string | undefined>>,
  options: AgentConfigOptions,
): AgentConfig {
  const reader = new VariableReader(env, options.command)
  const allowHttp = options.allowHttp === true || reader.text('SVC_ALLOW_HTTP') === '1'
  const dataDir = reader.path('SVC_AGENT_DATA_DIR') ?? '/var/lib/svc-agent'
  const config: AgentConfig = {
    serverUrl: reader.url('SVC_SERVER_URL', allowHttp ? 'anywhere' : 'on loopback'),
    mtlsUrl: reader.url('SVC_SERVER_MTLS_URL', 'never'),
    serverCaPath: reader.path('SVC_SERVER_CA_PATH'),
    trustKey: reader.trustKey(),
    hostname: reader.hostname(options),
    role: reader.role(),
    dataDir,
    enrollToken: reader.token(),
    enrollTokenFile: reader.pathOrStandardInput('SVC_ENROLL_TOKEN_FILE'),
    enrollByTpm: reader.isSet('SVC_ENROLL_TPM'),
    hostKey: reader.hostKey(options.command),
    pollIntervalMs: reader.durationMs('SVC_AGENT_POLL_INTERVAL', 30_000, POLL_INTERVAL_MS_MIN),
    renewalThresholdMs: reader.durationMs('SVC_AGENT_RENEWAL_THRESHOLD', 6 * 3_600_000, 0),
    outDir: reader.path('SVC_AGENT_OUT_DIR') ?? join(dataDir, 'out'),
    stateDir: reader.path('SVC_AGENT_STATE_DIR') ?? join(dataDir, 'state'),
    hookDir: reader.path('SVC_AGENT_HOOK_DIR') ?? join(dataDir, 'hooks'),
    targetsDir: reader.path('SVC_AGENT_TARGETS_DIR') ?? join(dataDir, 'targets.d'),
    targetsStateDir: reader.path('SVC_AGENT_TARGETS_STATE_DIR'),
    httpsProxy: reader.text('HTTPS_PROXY') ?? blankToUndefined(env['https_proxy']),
    noProxy: reader.text('NO_PROXY') ?? blankToUndefined(env['no_proxy']),
    hasStream: reader.isOn('SVC_AGENT_STREAM'),
    labels: reader.labels(),
    isSupervised: reader.text('SVC_AGENT_SUPERVISED') === '1',
    updateUrl: reader.updateUrl('SVC_AGENT_UPDATE_URL'),
    metricsBind: reader.bindAddress('SVC_AGENT_METRICS_BIND'),
    language: reader.language(options.command),
    unknownVariables: findUnknownVariables(env),
  }
  reader.throwIfWrong()
  return Object.freeze(config)
}

/** Collects problems instead of stopping at the first; each reader answers undefined where there is one. */
class VariableReader {
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #problems = new Map<string, string>()

  constructor(env: Readonly<Record<string, string | undefined>>, command: AgentCommand) {
    this.#env = env
    for (const variable of AGENT_VARIABLES as readonly AgentVariable[]) {
      if (!variable.requiredIn.includes(command)) continue
      const isThere =
        blankToUndefined(env[variable.name]) !== undefined ||
        (variable.name === 'SVC_ENROLL_TOKEN' &&
          (env['SVC_ENROLL_TPM'] === '1' ||
            TOKEN_STAND_INS.some((name) => blankToUndefined(env[name]) !== undefined)))
      if (!isThere) {
        this.#problems.set(variable.name, `${variable.name} required`)
      }
    }
  }

  text(name: AgentVariableName): string | undefined {
    return blankToUndefined(this.#env[name])
  }

  path(name: AgentVariableName): string | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : resolve(text)
  }

  pathOrStandardInput(name: AgentVariableName): string | undefined {
    return this.text(name) === STANDARD_INPUT ? STANDARD_INPUT : this.path(name)
  }

  url(name: AgentVariableName, plainHttp: 'anywhere' | 'on loopback' | 'never'): URL | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url === undefined || !['https:', 'http:'].includes(url.protocol)) {
      return this.#wrong(name, `is not an https URL: ${text}`)
    }
    if (url.protocol === 'http:' && plainHttp === 'never') {
      const near = text.replace(/^http:/i, 'https:')
      return this.#wrong(name, `must be https: ${text}; did you mean ${near}?`)
    }
    if (url.protocol === 'http:' && plainHttp === 'on loopback' && !isLoopback(url)) {
      return this.#wrong(name, `must be https, plain http is only for loopback: ${text}`)
    }
    if (!isPlainPlace(url)) {
      return this.#wrong(name, 'must have no credentials, query or fragment')
    }
    return url
  }

  /** With its marks, which are no part of a URL. */
  updateUrl(name: AgentVariableName): string | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    if (!text.includes('{version}')) {
      return this.#wrong(name, `has no {version} where the version stands: ${text}`)
    }
    const example = text.replaceAll('{version}', '0.0.0').replaceAll('{arch}', 'linux-x64')
    const url = URL.canParse(example) ? new URL(example) : undefined
    const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url))
    if (url !== undefined && isSafe && isPlainPlace(url)) return text
    return this.#wrong(name, `is not a plain https URL: ${text}`)
  }

  hostname({ command, osHostname }: AgentConfigOptions): Hostname | undefined {
    const given = this.text('SVC_AGENT_HOSTNAME')
    const text = given ?? osHostname.toLowerCase()
    const hostname = parseHostname(text)
    // Only enroll needs one; the other commands take it from the certificate.
    if (hostname === undefined && command === 'enroll') {
      return this.#wrong(
        'SVC_AGENT_HOSTNAME',
        `is not a lower-case host name of at most 64 characters: ${text}`,
      )
    }
    return hostname
  }

  /** Undefined for `off`, too. */
  bindAddress(name: AgentVariableName): BindAddress | undefined {
    const text = this.text(name)
    if (text === undefined || text === 'off') return undefined
    return (
      readBindAddress(text) ??
      this.#wrong(name, `is not an address and port such as 127.0.0.1:9465: ${text}`)
    )
  }

  role(): string | undefined {
    const text = this.text('SVC_AGENT_ROLE')
    if (text === undefined || text.length <= LIMITS.roleCharactersMax) return text
    return this.#wrong('SVC_AGENT_ROLE', `is longer than ${LIMITS.roleCharactersMax} characters`)
  }

  trustKey(): TrustSetting {
    const text = this.text('SVC_AGENT_TRUST_KEY')
    const setting = parseTrustSetting(text)
    if (setting !== null) return setting
    return this.#wrong('SVC_AGENT_TRUST_KEY', `is not <fleet>:<key of minisign>, nor off: ${text}`)
  }

  labels(): Labels {
    const text = this.text('SVC_LABELS')
    const labels = text === undefined ? NO_LABELS : parseSetLabels(text)
    if (typeof labels !== 'string') return labels
    this.#wrong('SVC_LABELS', labels)
    return NO_LABELS
  }

  token(): Secret<string> | undefined {
    const text = this.text('SVC_ENROLL_TOKEN')?.trim()
    return text === undefined ? undefined : new Secret(text)
  }

  /** Only enroll looks at it: what it names may be gone afterwards. */
  hostKey(command: AgentCommand): HostKeyFiles | undefined {
    if (command !== 'enroll') return undefined
    const certificatePath = this.path('SVC_ENROLL_HOST_CERTIFICATE')
    const keyPath = this.path('SVC_ENROLL_HOST_KEY')
    const sshKeyPath = this.path('SVC_ENROLL_SSH_HOST_KEY')
    const ways = [
      this.text('SVC_ENROLL_TOKEN') ?? this.text('SVC_ENROLL_TOKEN_FILE'),
      certificatePath,
      sshKeyPath,
      this.text('SVC_ENROLL_TPM') === '1' ? 'a TPM' : undefined,
    ]
    if (ways.filter((way) => way !== undefined).length > 1) {
      return this.#wrong(
        'SVC_ENROLL_TOKEN',
        'or its file, SVC_ENROLL_HOST_CERTIFICATE, SVC_ENROLL_SSH_HOST_KEY, SVC_ENROLL_TPM: a host enrols by one of them; set the others to nothing',
      )
    }
    if ((certificatePath === undefined) !== (keyPath === undefined)) {
      return this.#wrong('SVC_ENROLL_HOST_KEY', 'goes with SVC_ENROLL_HOST_CERTIFICATE')
    }
    if (certificatePath !== undefined && keyPath !== undefined) {
      return { method: 'x5c', certificatePath, keyPath }
    }
    return sshKeyPath === undefined ? undefined : { method: 'ssh', keyPath: sshKeyPath }
  }

  isSet(name: AgentVariableName): boolean {
    const text = this.text(name) ?? '0'
    if (text !== '0' && text !== '1') this.#wrong(name, `must be 0 or 1: ${text}`)
    return text === '1'
  }

  durationMs(name: AgentVariableName, defaultMs: number, minMs: number): number {
    const text = this.text(name)
    const durationMs = text === undefined ? defaultMs : parseDurationMs(text)
    if (durationMs === undefined)
      this.#wrong(name, `is not a duration such as 30s or 1h 30m: ${text}`)
    else if (durationMs < minMs) this.#wrong(name, `must be at least ${minMs}ms: ${text}`)
    return durationMs ?? defaultMs
  }

  /** Unless it is switched off. */
  isOn(name: AgentVariableName): boolean {
    const text = this.text(name) ?? 'on'
    if (text !== 'on' && text !== 'off') this.#wrong(name, `must be on or off: ${text}`)
    return text !== 'off'
  }

  /** What prints nothing does not end for it. */
  language(command: AgentCommand): Language {
    const text = this.text('SVC_LANG')
    const language = parseLanguage(text)
    if (language === undefined && command !== 'run') {
      this.#wrong('SVC_LANG', `must be en or pt: ${text}`)
    }
    return language ?? 'en'
  }

  throwIfWrong(): void {
    if (this.#problems.size === 0) return
    const lines = AGENT_VARIABLES.flatMap(({ name }) => this.#problems.get(name) ?? [])
    throw new UserError('config_invalid', lines.join('\n'))
  }

  #wrong(name: AgentVariableName, why: string): undefined {
    this.#problems.set(name, `${name} ${why}`)
  }
}

/** An environment file that says `NAME=` means that the variable is not set. */
function blankToUndefined(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text
}

function isPlainPlace({ username, password, search, hash }: URL): boolean {
  return username === '' && password === '' && search === '' && hash === ''
}

export function isLoopback(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return (
    host === 'localhost' || /^127\.\d+\.\d+\.\d+$/.test(host) || (isIPv6(host) && host === '::1')
  )
}
