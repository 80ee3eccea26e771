// What the packages hold, and where it goes.

import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { STORE_ADDON } from '../build/bundle-program.ts'
import { HUB_FLAGS } from '../build/hub-flags.ts'
import { ROOT } from '../source-files.ts'
import type { Completions } from './completions.ts'
import type { DebianPackage, PackageFile } from './debian-package.ts'
import { type ManualPage, renderManualPage } from './manual-page.ts'
import { agentPage, serverPage, svcPage } from './manual-pages.ts'

export interface PackageSources {
  /** Where the built programs are. */
  readonly programs: string
  readonly version: string
  readonly releasedAt: Date
  /** Of everything that the programs are made of. */
  readonly licences: string
}

const DEPLOY = join(ROOT, 'deploy')
const UNITS = '/usr/lib/systemd/system'
const SERVER = '/usr/lib/svc-server'

export function agentPackage(sources: PackageSources, completions: Completions): DebianPackage {
  const name = 'svc-agent'
  return {
    name,
    controlDirectory: join(DEPLOY, 'debian', name),
    directories: ['/etc/svc-agent/targets.d'],
    files: [
      executable('/usr/bin/svc-agent', join(sources.programs, name)),
      ...['svc-agent-apply-targets', 'svc-agent-apply-update', 'svc-agent-watch-update'].map(
        (script) => executable(`/usr/lib/svc-agent/${script}`, join(DEPLOY, 'agent', script)),
      ),
      ...units(name, [
        'svc-agent.service',
        'svc-agent-targets-changed.path',
        'svc-agent-targets-changed.service',
        'svc-agent-targets.service',
        'svc-agent-targets.path',
        'svc-agent-targets.timer',
        'svc-agent-update.service',
        'svc-agent-update.path',
        'svc-agent-announced.service',
        'svc-agent-announced.path',
      ]),
      ...completionFiles(name, completions),
      manualFile(agentPage(), sources),
      ...commonFiles(name, sources),
    ],
  }
}

/** The CLI for machines without a hub: one program, which works with `--hub` only. */
export function cliPackage(sources: PackageSources, completions: Completions): DebianPackage {
  const name = 'svc'
  return {
    name,
    controlDirectory: join(DEPLOY, 'debian', name),
    directories: [],
    files: [
      executable('/usr/bin/svc', join(sources.programs, name)),
      ...completionFiles(name, completions),
      manualFile(svcPage(), sources),
      ...documentFiles(name, sources),
    ],
  }
}

export function serverPackage(
  sources: PackageSources & { readonly node: string },
  completions: Completions,
): DebianPackage {
  const name = 'svc-server'
  return {
    name,
    controlDirectory: join(DEPLOY, 'debian', name),
    directories: [],
    files: [
      // bin/svc-server says why.
      launcher('svc-server', {
        variables: ['MALLOC_TRIM_THRESHOLD_=262144'],
        nodeOptions: HUB_FLAGS,
      }),
      launcher('svc'),
      executable(`${SERVER}/node`, sources.node),
      ...['svc-server.cjs', 'svc.cjs', STORE_ADDON].map((file) =>
        plain(`${SERVER}/${file}`, join(sources.programs, file)),
      ),
      ...units(name, ['svc-server.service']),
      ...['nginx.conf', 'Caddyfile'].map((file) =>
        plain(`/usr/share/doc/${name}/examples/${file}`, join(DEPLOY, 'proxy', file)),
      ),
      ...['prometheus/alerts.yml', 'grafana/dashboard.json'].map((file) =>
        plain(`/usr/share/doc/${name}/examples/${basename(file)}`, join(DEPLOY, file)),
      ),
      ...completionFiles('svc', completions),
      ...[serverPage(), svcPage()].map((page) => manualFile(page, sources)),
      ...commonFiles(name, sources),
    ],
  }
}

interface LaunchOptions {
  /** Assignments. */
  readonly variables?: readonly string[]
  readonly nodeOptions?: readonly string[]
}

/** As in a checkout: a shell that becomes the program, so that pid, signals and exit status are the program's own. */
function launcher(name: string, how: LaunchOptions = {}): PackageFile {
  const { variables = [], nodeOptions = [] } = how
  const exports = variables.map((assignment) => `export ${assignment}\n`).join('')
  const command = [`${SERVER}/node`, ...nodeOptions, `${SERVER}/${name}.cjs`].join(' ')
  const script = `#!/bin/sh\nulimit -c 0\n${exports}exec ${command} "$@"\n`
  return { path: `/usr/bin/${name}`, content: script, mode: 0o755 }
}

function units(name: string, files: readonly string[]): PackageFile[] {
  const directory = join(DEPLOY, 'systemd')
  return [
    ...files.map((file) => plain(`${UNITS}/${file}`, join(directory, file))),
    plain(`/usr/lib/sysusers.d/${name}.conf`, join(directory, `${name}.sysusers.conf`)),
    plain(`/usr/lib/tmpfiles.d/${name}.conf`, join(directory, `${name}.tmpfiles.conf`)),
  ]
}

function completionFiles(program: string, { bash, zsh, fish }: Completions): PackageFile[] {
  return [
    written(`/usr/share/bash-completion/completions/${program}`, bash),
    written(`/usr/share/zsh/vendor-completions/_${program}`, zsh),
    written(`/usr/share/fish/vendor_completions.d/${program}.fish`, fish),
  ]
}

function manualFile(page: ManualPage, sources: PackageSources): PackageFile {
  const path = `/usr/share/man/man${page.section}/${page.name}.${page.section}.gz`
  return written(path, compress(renderManualPage(page, sources)))
}

/** They lead to each other, and to pages that only the sources have. */
const PAGES = [
  'adopt.md',
  'first-day.md',
  'operations.md',
  ...readdirSync(join(ROOT, 'docs/services')).map((page) => `services/${page}`),
]

/** What hub and agent have, each under its own name. */
function commonFiles(name: string, sources: PackageSources): PackageFile[] {
  const own = join(DEPLOY, 'debian', name)
  return [
    // No configuration file of dpkg's, which asks about one that was edited: postinst copies it where there is none.
    plain(`/usr/share/${name}/${name}.env`, join(own, `${name}.env`)),
    plain(`/usr/lib/${name}/defaults.env`, join(own, 'defaults.env')),
    ...PAGES.map((page) => plain(`/usr/share/doc/${name}/${page}`, join(ROOT, 'docs', page))),
    ...documentFiles(name, sources),
  ]
}

/** What every package has. */
function documentFiles(name: string, sources: PackageSources): PackageFile[] {
  const documents = `/usr/share/doc/${name}`
  const own = join(DEPLOY, 'debian', name)
  return [
    plain(`${documents}/copyright`, join(DEPLOY, 'debian/copyright')),
    written(`${documents}/third-party-licences.gz`, compress(sources.licences)),
    written(`${documents}/changelog.gz`, compress(changelog(name, sources))),
    plain(`/usr/share/lintian/overrides/${name}`, join(own, 'lintian-overrides')),
  ]
}

function changelog(name: string, { version, releasedAt }: PackageSources): string {
  const date = releasedAt.toUTCString().replace('GMT', '+0000')
  return `${name} (${version}) unstable; urgency=medium

  * CHANGELOG.md of the project says what changed.

 -- Cartorio <maintainers@cartorio.invalid>  ${date}
`
}

function compress(content: string): Uint8Array {
  return gzipSync(content, { level: 9 })
}

function plain(path: string, from: string): PackageFile {
  return { path, content: { from }, mode: 0o644 }
}

function executable(path: string, from: string): PackageFile {
  return { path, content: { from }, mode: 0o755 }
}

function written(path: string, content: string | Uint8Array): PackageFile {
  return { path, content, mode: 0o644 }
}
