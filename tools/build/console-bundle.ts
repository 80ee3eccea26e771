// The console as the hub serves it: one page, its scripts and styles under names that hold a hash of what is in them, each
// compressed once.

import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, type BuildOptions, type BuildResult, context } from 'esbuild'
import { invariant } from '../../src/platform/errors.ts'
import type { PackedConsole, PackedFile } from '../../src/console-files/packed-console.ts'
import { ADMIN_OPERATION_NAMES, ADMIN_OPERATIONS } from '../../src/protocol/admin/operations.ts'
import { ROOT } from '../source-files.ts'

export const CONSOLE_SOURCE: string = join(ROOT, 'src/console')
/** Browsers that have all that the console asks for, Trusted Types among it. */
const TARGETS = ['chrome120', 'firefox128', 'safari17.4']
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.html': 'text/html; charset=utf-8',
}

interface ConsoleBuild {
  /** For people who work on it: not minified, with source maps, and its page loads itself again when there is a newer build. */
  readonly isReadable?: boolean
}

export async function packConsole(wanted: ConsoleBuild = {}): Promise<PackedConsole> {
  return packOutputs(await build(settingsOf(wanted)), wanted)
}

export interface ConsoleBuilder {
  /** What has not changed since is not read again. Throws where the source has a fault. */
  build(): Promise<PackedConsole>
  dispose(): Promise<void>
}

export async function openConsoleBuilder(): Promise<ConsoleBuilder> {
  const wanted = { isReadable: true }
  const held = await context(settingsOf(wanted))
  return {
    build: async () => packOutputs(await held.rebuild(), wanted),
    dispose: () => held.dispose(),
  }
}

type Settings = BuildOptions & { readonly metafile: true; readonly write: false }

function settingsOf({ isReadable = false }: ConsoleBuild): Settings {
  return {
    absWorkingDir: ROOT,
    entryPoints: {
      console: join(CONSOLE_SOURCE, 'main.tsx'),
      style: join(CONSOLE_SOURCE, 'style/console.css'),
    },
    outdir: join(ROOT, 'dist/console'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: TARGETS,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: !isReadable,
    sourcemap: isReadable ? 'inline' : false,
    legalComments: 'none',
    charset: 'utf8',
    metafile: true,
    write: false,
    logLevel: 'error',
    define: {
      CONSOLE_OPERATIONS: JSON.stringify(listOperations()),
      CONSOLE_WATCH: String(isReadable),
    },
  }
}

async function packOutputs(
  { outputFiles, metafile }: BuildResult<Settings>,
  { isReadable = false }: ConsoleBuild,
): Promise<PackedConsole> {
  const effort = isReadable ? QUICK : BEST
  const icon = await readFile(join(CONSOLE_SOURCE, 'style/icon.svg'))
  const iconName = `icon-${digestOf(icon).slice(0, 8)}.svg`
  const entryOf = (source: string): string => {
    const [path] =
      Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source) ?? []
    invariant(path !== undefined, `esbuild wrote nothing for ${source}`)
    return basename(path)
  }
  const page = renderPage(await readFile(join(CONSOLE_SOURCE, 'page.html'), 'utf8'), {
    SCRIPT: entryOf('src/console/main.tsx'),
    STYLE: entryOf('src/console/style/console.css'),
    ICON: iconName,
  })
  const files = [
    pack('page.html', Buffer.from(page), effort),
    pack(iconName, icon, effort),
    ...outputFiles.map(({ path, contents }) => pack(basename(path), Buffer.from(contents), effort)),
  ]
  return { files: files.sort((a, b) => (a.name < b.name ? -1 : 1)) }
}

/** Of each operation: where it is, who may ask for it, whether a repetition needs a key, and whether a token of some hosts may ask. */
function listOperations(): object {
  return Object.fromEntries(
    ADMIN_OPERATION_NAMES.map((name) => {
      const { method, path, role, does, isForSomeHosts = false } = ADMIN_OPERATIONS[name]
      return [name, [method, path, role, does, isForSomeHosts]]
    }),
  )
}

interface Effort {
  readonly brotli: number
  readonly gzip: number
}

const BEST: Effort = { brotli: constants.BROTLI_MAX_QUALITY, gzip: 9 }
/** Somebody waits for it, on this machine. */
const QUICK: Effort = { brotli: constants.BROTLI_MIN_QUALITY, gzip: 1 }

function pack(name: string, content: Buffer, effort: Effort): PackedFile {
  const type = TYPES[extname(name)]
  invariant(type !== undefined, `${name} has a type that is not in the table`)
  const quality = { [constants.BROTLI_PARAM_QUALITY]: effort.brotli }
  return {
    name,
    type,
    sha256: digestOf(content),
    gzip: gzipSync(content, { level: effort.gzip }).toString('base64'),
    brotli: brotliCompressSync(content, { params: quality }).toString('base64'),
  }
}

function digestOf(content: Buffer): string {
  return hash('sha256', content)
}

function renderPage(template: string, names: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{([A-Z]+)\}\}/g, (_whole, name: string) => {
    const value = names[name]
    invariant(value !== undefined, `page.html asks for ${name}`)
    return value
  })
}
