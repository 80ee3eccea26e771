// The TOML of a proposed target, as a person would write it.

import { quoteForShell } from '../../platform/quote-for-shell.ts'
import type { TargetProbe } from '../targets/target.ts'
import type { ProposedFile } from './proposal.ts'

export function formatTargetText({
  name,
  reload,
  probe,
  files,
}: {
  readonly name: string
  readonly reload: readonly string[]
  readonly probe: TargetProbe | undefined
  readonly files: readonly ProposedFile[]
}): string {
  const lines = [`name = ${quoted(name)}`, `reload = ${list(reload)}`]
  if (probe !== undefined) {
    lines.push(`probe = ${quoted(formatAddress(probe))}`)
    if (probe.serverName !== undefined) lines.push(`probe_name = ${quoted(probe.serverName)}`)
    if (probe.protocol !== 'tls') lines.push(`probe_protocol = ${quoted(probe.protocol)}`)
  }
  for (const { path, content, owner, group, mode } of files) {
    lines.push('', '[[file]]', `path = ${quoted(path)}`, `content = ${list(content)}`)
    if (owner !== 'root') lines.push(`owner = ${quoted(owner)}`)
    if (group !== 'root') lines.push(`group = ${quoted(group)}`)
    lines.push(`mode = ${quoted(mode.toString(8).padStart(4, '0'))}`)
  }
  return `${lines.join('\n')}\n`
}

export function formatAddress({ host, port }: Pick<TargetProbe, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** A target has one command: several become one line for the shell, each only after the one before. */
export function joinReloads(reloads: readonly (readonly string[])[]): readonly string[] {
  const distinct = [...new Map(reloads.map((argv) => [argv.join('\0'), argv])).values()]
  const [only] = distinct
  if (distinct.length === 1 && only !== undefined) return only
  return ['/bin/sh', '-c', distinct.map((argv) => argv.map(quoteForShell).join(' ')).join(' && ')]
}

function list(values: readonly string[]): string {
  return `[${values.map(quoted).join(', ')}]`
}

/** A string of TOML is one of JSON, but for the delete character. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u007F', String.raw`\u007f`)
}
