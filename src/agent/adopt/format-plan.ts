// A plan as people read it: what is there, what would be written, what would be stopped, and what the hub has to deliver.

import { quoteForShell } from '../../platform/quote-for-shell.ts'
import { subjectAltNamesOf } from '../../pki/certificates.ts'
import type { Proposal } from './proposal.ts'
import { describeStop } from './renewers/renewer.ts'

export function formatProposal(proposal: Proposal): string {
  const { id, state, leaf, files, problems, notes, renewers } = proposal
  const lines = [`${id}: ${headlineOf(proposal)}`]
  if (leaf !== undefined) {
    const names = subjectAltNamesOf(leaf).join(', ')
    const until = leaf.notAfter.toISOString().replace('.000Z', 'Z')
    lines.push(`  serves now: serial ${leaf.serial}, valid until ${until}, ${names}`)
    lines.push(`  issued by: ${leaf.x509.issuer.split('\n').toReversed().join(', ')}`)
  }
  if (state === 'target') return [...lines, '  a target of this host has these files'].join('\n')
  if (state === 'adopted') {
    return [...lines, `  adopted; svc-agent adopt --undo ${id} takes it back`].join('\n')
  }
  if (state === 'unfinished') {
    return [...lines, '  interrupted: --apply goes on with it, --undo takes it back'].join('\n')
  }
  if (renewers.length === 0) lines.push('  renewed by: nobody')
  for (const { kind, name } of renewers) lines.push(`  renewed by: ${kind} (${name})`)
  lines.push(...problems.map((problem) => `  not adopted: ${problem}`))
  if (problems.length > 0) return lines.join('\n')
  lines.push(...notes.map((note) => `  note: ${note}`), ...diffOf(proposal))
  for (const { path, link, owner, group, mode } of files) {
    const was = link === undefined ? '' : `, instead of the link to ${link}`
    const octal = mode.toString(8).padStart(4, '0')
    lines.push(`  replaces ${path} (${owner}:${group} ${octal}${was})`)
  }
  for (const { stop } of renewers) {
    if (stop !== undefined) lines.push(`  then ${describeStop(stop)}`)
  }
  return lines.join('\n')
}

/** For who administers the hub: the commands, and the same declared. */
export function formatLoads(proposals: readonly Proposal[], hostname: string): string {
  const loads = loadsOf(proposals, hostname)
  if (loads.length === 0) return ''
  const commands = loads.map(({ name, sans }) => {
    const options = sans.flatMap((san) => ['--san', san])
    const words = ['svc', 'load', 'create', '--type', 'csr_cert', '--name', name]
    return `  ${[...words, '--agent', hostname, ...options].map(quoteForShell).join(' ')}`
  })
  const declared = loads.flatMap(({ name, sans }) => [
    '  [[load]]',
    `  name = ${JSON.stringify(name)}`,
    '  type = "csr_cert"',
    `  where = ${JSON.stringify(`name=${hostname}`)}`,
    `  sans = [${sans.map((san) => JSON.stringify(san)).join(', ')}]`,
  ])
  return [
    'what the hub has to deliver:',
    ...commands,
    'or in files for svc apply:',
    ...declared,
  ].join('\n')
}

export interface NeededLoad {
  readonly name: string
  /** Beside the host's own name, which every certificate has. */
  readonly sans: readonly string[]
}

export function loadsOf(proposals: readonly Proposal[], hostname: string): NeededLoad[] {
  const loads = new Map<string, NeededLoad>()
  for (const { name, leaf, state, problems } of proposals) {
    if (state !== 'open' || problems.length > 0 || leaf === undefined) continue
    loads.set(name, { name, sans: subjectAltNamesOf(leaf).filter((san) => san !== hostname) })
  }
  return [...loads.values()]
}

export function describeProposal({
  leaf,
  renewers,
  files,
  probes,
  targetPath,
  targetText,
  ...rest
}: Proposal): unknown {
  return {
    ...rest,
    certificate:
      leaf === undefined
        ? null
        : {
            serial: leaf.serial,
            not_after: leaf.notAfter.toISOString(),
            names: subjectAltNamesOf(leaf),
            issuer: leaf.x509.issuer.split('\n').toReversed().join(', '),
          },
    target: { path: targetPath, text: targetText },
    files: files.map(({ path, link = null, content, owner, group, mode }) => {
      return { path, link, content, owner, group, mode: mode.toString(8).padStart(4, '0') }
    }),
    probes: probes.map(({ host, port, protocol, serverName = null }) => {
      return { host, port, protocol, server_name: serverName }
    }),
    renewers: renewers.map(({ kind, name, stop = null }) => ({ kind, name, stop })),
  }
}

function headlineOf({ services, probes }: Proposal): string {
  const asked = probes.map(({ host, port, serverName }) => {
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
    return serverName === undefined ? address : `${address} as ${serverName}`
  })
  return asked.length === 0 ? services.join(', ') : `${services.join(', ')} at ${asked.join(', ')}`
}

function diffOf({ targetPath, targetText }: Proposal): string[] {
  const added = targetText.trimEnd().split('\n')
  return [
    '  --- /dev/null',
    `  +++ ${targetPath}`,
    `  @@ -0,0 +1,${added.length} @@`,
    ...added.map((line) => `  +${line}`),
  ]
}
