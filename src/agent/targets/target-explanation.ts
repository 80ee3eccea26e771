// What a target does, told before it does it: in words for people, in the terms of the TOML for programs.

import { headingIn, type Language } from '../../protocol/spoken-words.ts'
import { formatInstant } from '../identity/describe-identity.ts'
import type { LoadedTarget } from './load-targets.ts'
import { holdsKey, type TargetContent, type TargetFile, type TargetProblem } from './target.ts'

/** What a target takes its files from: a delivered pair, or a file. */
export type DeliveryOnHost =
  | { readonly state: 'installed'; readonly version: number }
  | { readonly state: 'installed'; readonly serial: string; readonly notAfter: Date }
  | { readonly state: 'missing' }
  | { readonly state: 'unreadable'; readonly reason: string }

export interface ExplainedTarget {
  readonly target: LoadedTarget
  readonly delivery: DeliveryOnHost
  /** Directories that applying it makes. */
  readonly newDirectories: readonly string[]
}

export function formatTarget(
  language: Language,
  { target, delivery, newDirectories }: ExplainedTarget,
): string {
  const { name, source, appliedBy, artefact, keyType, files, reload } = target
  return [
    `${name} (${source}), applied by ${nameOf(appliedBy)}`,
    `  ${headingIn(language, 'delivery')}: ${formatDelivery(delivery)}`,
    ...(artefact === 'pair' ? [`  ${headingIn(language, 'key type')}: ${keyType}`] : []),
    ...newDirectories.map((directory) => `  makes ${directory}, mode 0755`),
    ...files.map((file) => `  writes ${formatFile(file, appliedBy)}`),
    `  then ${reload === undefined ? 'runs nothing' : `runs ${formatArguments(reload)}`}`,
    ...(artefact === 'pair' ? [`  then ${formatProbe(target)}`] : []),
  ].join('\n')
}

/** `file:line: reason`, as editors and compilers have it. */
export function formatProblem({ source, line, reason }: TargetProblem): string {
  return line === undefined ? `${source}: ${reason}` : `${source}:${line}: ${reason}`
}

export function describeTarget({ target, delivery, newDirectories }: ExplainedTarget) {
  const { name, source, appliedBy, artefact, keyType, files, reload, probe } = target
  return {
    nome: name,
    source,
    applied_by: appliedBy,
    key_type: artefact === 'pair' ? keyType : null,
    delivery: describeDelivery(delivery),
    new_directories: newDirectories,
    files: files.map(({ path, content, owner, group, mode }) => ({
      path,
      content: partsOf(content),
      format: content.format,
      password_file: content.format === 'pkcs12' ? content.passwordFile : null,
      owner: owner ?? null,
      group: group ?? null,
      mode: formatMode(mode),
    })),
    reload: reload ?? null,
    probe: probe === undefined ? null : `${formatHost(probe.host)}:${probe.port}`,
    probe_name: probe?.serverName ?? null,
    probe_protocol: probe?.protocol ?? null,
  }
}

function describeDelivery(delivery: DeliveryOnHost) {
  const none = { state: delivery.state, serial: null, not_after: null, versao: null }
  if (delivery.state !== 'installed') return none
  if ('version' in delivery) return { ...none, versao: delivery.version }
  return { ...none, serial: delivery.serial, not_after: formatInstant(delivery.notAfter) }
}

function partsOf(content: TargetContent): readonly string[] | null {
  if (content.format === 'pkcs12') return null
  return content.format === 'file' ? ['file'] : content.parts
}

function formatDelivery(delivery: DeliveryOnHost): string {
  if (delivery.state === 'missing') return 'not installed yet'
  if (delivery.state === 'unreadable') return `cannot be read: ${delivery.reason}`
  if ('version' in delivery) return `installed, version ${delivery.version}`
  const { serial, notAfter } = delivery
  return `installed, serial ${serial}, valid until ${formatInstant(notAfter)}`
}

function formatFile(file: TargetFile, appliedBy: number): string {
  const { path, content, owner, group, mode } = file
  const secret = holdsKey(file) || content.format === 'file' ? ', a secret' : ''
  const whose = `owner ${owner ?? nameOf(appliedBy)}, group ${group ?? `of ${nameOf(appliedBy)}`}`
  return `${path}: ${formatContent(content)}; ${whose}, mode ${formatMode(mode)}${secret}`
}

function nameOf(uid: number): string {
  return uid === 0 ? 'root' : `user ${uid}`
}

function formatContent(content: TargetContent): string {
  if (content.format === 'file') return 'the file'
  return content.format === 'pem'
    ? content.parts.join(', ')
    : `PKCS#12 with the password in ${content.passwordFile}`
}

function formatProbe({ probe }: LoadedTarget): string {
  if (probe === undefined) return 'has no probe'
  const { host, port, protocol, serverName } = probe
  const name = serverName === undefined ? '' : `, asked for ${serverName}`
  return `expects the new serial from ${formatHost(host)}:${port} (${protocol}${name})`
}

function formatHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function formatMode(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

/** An argument with anything but plain characters in it is quoted, so that one is seen to be one. */
function formatArguments(argv: readonly string[]): string {
  return argv.map((one) => (/^[\w./:=@%+,-]+$/.test(one) ? one : JSON.stringify(one))).join(' ')
}
