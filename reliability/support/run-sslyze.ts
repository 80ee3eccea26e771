// sslyze against the mutual TLS port, once as a stranger and once with an identity. Its report is clean when a client
// certificate is demanded; nothing older than TLS 1.2 is spoken; every suite has an ephemeral key and authenticated
// encryption; no session is resumed; there is no renegotiation, compression or early data; and the port has none of
// Heartbleed, CCS injection and ROBOT, but does have the extended master secret and the fallback signal.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SvcError } from '../../src/platform/errors.ts'
import type { Identity } from '../../test/support/enrolled-host.ts'
import type { Sslyze } from '../../tools/install-sslyze.ts'

export interface SslyzeOptions {
  readonly sslyze: Sslyze
  readonly port: number
  readonly serverName: string
  readonly identity: Identity
  readonly directory: string
}

/** The part of its JSON that is looked at; every attempt that did not complete is a fault. */
interface ScanResult {
  readonly connectivity_result: { readonly client_auth_requirement: string }
  readonly scan_result: Readonly<
    Record<string, { readonly status: string; readonly result: Facts }>
  >
}

/** When it could not connect; the last line of Python's trace says why. */
interface NoConnection {
  readonly connectivity_result: null
  readonly connectivity_error_trace: string
}

type Facts = Readonly<Record<string, unknown>> | null

const OLD_VERSIONS = ['sslv2', 'sslv3', 'tlsv1', 'tlsv1_1']
// SSL 2 only as a stranger: sslyze itself fails on it with a client certificate.
const OF_STRANGERS = [...OLD_VERSIONS, 'openssl_ccs', 'heartbleed', 'robot', 'fallback']
const OF_AGENTS = [
  ...OF_STRANGERS.filter((name) => name !== 'sslv2'),
  'tlsv1_2',
  'tlsv1_3',
  'compression',
  'reneg',
  'resum',
  'early_data',
  'ems',
]

/** The facts of sslyze and what they have to be. */
const WANTED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ssl_2_0_cipher_suites: { is_tls_version_supported: false },
  ssl_3_0_cipher_suites: { is_tls_version_supported: false },
  tls_1_0_cipher_suites: { is_tls_version_supported: false },
  tls_1_1_cipher_suites: { is_tls_version_supported: false },
  tls_1_2_cipher_suites: { is_tls_version_supported: true },
  tls_1_3_cipher_suites: { is_tls_version_supported: true },
  tls_compression: { supports_compression: false },
  tls_1_3_early_data: { supports_early_data: false },
  openssl_ccs_injection: { is_vulnerable_to_ccs_injection: false },
  tls_fallback_scsv: { supports_fallback_scsv: true },
  heartbleed: { is_vulnerable_to_heartbleed: false },
  robot: { robot_result: 'NOT_VULNERABLE_RSA_NOT_SUPPORTED' },
  session_renegotiation: {
    client_renegotiations_success_count: 0,
    is_vulnerable_to_client_renegotiation_dos: false,
    supports_secure_renegotiation: true,
  },
  session_resumption: {
    session_id_resumption_result: 'NOT_SUPPORTED',
    tls_ticket_resumption_result: 'NOT_SUPPORTED',
  },
  tls_extended_master_secret: { supports_ems_extension: true },
}

/** What is not clean in the reports of both. */
export async function findSslyzeFaults(options: SslyzeOptions): Promise<string[]> {
  const certPath = join(options.directory, 'scan.crt')
  const keyPath = join(options.directory, 'scan.key')
  await writeFile(certPath, options.identity.certPem, { mode: 0o600 })
  await writeFile(keyPath, options.identity.keyPem, { mode: 0o600 })
  const stranger = await scan(options, OF_STRANGERS, [])
  const agent = await scan(options, OF_AGENTS, [`--cert=${certPath}`, `--key=${keyPath}`])
  const demand = stranger.connectivity_result.client_auth_requirement
  return [
    ...(demand === 'REQUIRED' ? [] : [`a client certificate is ${demand}`]),
    ...faultsOfScan(stranger, OF_STRANGERS.length),
    ...faultsOfScan(agent, OF_AGENTS.length),
  ].map((fault) => `sslyze: ${fault}`)
}

async function scan(
  { sslyze: [python, ...args], port, serverName, directory }: SslyzeOptions,
  checks: readonly string[],
  identity: readonly string[],
): Promise<ScanResult> {
  const report = join(directory, 'sslyze.json')
  const flags = [...checks.map((check) => `--${check}`), ...identity, `--sni=${serverName}`]
  const quiet = ['--quiet', '--mozilla_config=disable', `--json_out=${report}`]
  const child = spawn(python, [...args, ...flags, ...quiet, `127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [complaints] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (child.exitCode !== 0) throw new SvcError('sslyze_failed', `sslyze failed: ${complaints}`)
  // The shape is that of sslyze's own documentation.
  const { server_scan_results: results } = JSON.parse(await readFile(report, 'utf8')) as {
    server_scan_results: (ScanResult | NoConnection)[]
  }
  const [result] = results
  if (result === undefined) throw new SvcError('sslyze_failed', 'sslyze scanned nothing')
  if (result.connectivity_result !== null) return result
  const reason = result.connectivity_error_trace.trim().split('\n').at(-1)
  throw new SvcError('sslyze_failed', `sslyze could not connect: ${reason}`)
}

export function faultsOfScan({ scan_result: attempts }: ScanResult, checksMin: number): string[] {
  const tried = Object.entries(attempts).filter(([, { status }]) => status !== 'NOT_SCHEDULED')
  return [
    ...(tried.length < checksMin ? [`only ${tried.length} of ${checksMin} checks were made`] : []),
    ...tried.flatMap(([name, { status, result }]) =>
      result === null ? [`${name}: ${status}`] : faultsOfCheck(name, result),
    ),
  ]
}

function faultsOfCheck(name: string, facts: Exclude<Facts, null>): string[] {
  const wrong = Object.entries(WANTED[name] ?? {}).filter(
    ([fact, wanted]) => facts[fact] !== wanted,
  )
  // Only the checks of protocol versions have it.
  const accepted = (facts['accepted_cipher_suites'] ?? []) as readonly AcceptedSuite[]
  const weak = accepted.filter((suite) => !isStrong(suite))
  return [
    ...wrong.map(
      ([fact, wanted]) => `${name}: ${fact} is ${String(facts[fact])} and not ${String(wanted)}`,
    ),
    ...weak.map(({ cipher_suite: suite }) => `${name}: ${suite.name} is accepted`),
  ]
}

interface AcceptedSuite {
  readonly cipher_suite: { readonly name: string; readonly is_anonymous: boolean }
  readonly ephemeral_key: object | null
}

function isStrong({ cipher_suite: suite, ephemeral_key: ephemeral }: AcceptedSuite): boolean {
  return !suite.is_anonymous && ephemeral !== null && /_GCM_|_CHACHA20_POLY1305_/.test(suite.name)
}
