// A program and everything that it imports, as one CommonJS file: what a single executable takes, and what runs on a
// bare Node.

import { join } from 'node:path'
import { build, formatMessages, type Plugin } from 'esbuild'
import type { PackedConsole } from '../../src/console-files/packed-console.ts'
import { SvcError } from '../../src/platform/errors.ts'
import { ROOT } from '../source-files.ts'
import type { BuildSettings } from './build-settings.ts'

const NODE_MAJOR = 24
/** The addon of the encrypted store; it lies beside the bundles that use it. */
export const STORE_ADDON = 'better-sqlite3.node'

export interface ProgramParts {
  /** It is installed without anything beside it. */
  readonly isAlone?: boolean
  /** The pages that it serves; without them it looks for what was built beside its source. */
  readonly console?: PackedConsole | undefined
}

export async function bundleProgram(
  entry: string,
  outfile: string,
  settings: BuildSettings & ProgramParts,
): Promise<void> {
  const { version, releasePublicKey, isAlone = false, console } = settings
  const { warnings } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(ROOT, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: `node${NODE_MAJOR}`,
    minifyWhitespace: true,
    minifySyntax: true,
    // Identifiers stay, since stack traces of bugs name functions, not letters. `keepNames` would have each function get its name by a
    // call whenever it is made, which took 7 MB of an agent that waits.
    legalComments: 'none',
    banner: { js: refuseOlderNode() },
    logLevel: 'error',
    define: {
      SVC_BUILD_VERSION: JSON.stringify(version),
      SVC_RELEASE_PUBLIC_KEY:
        releasePublicKey === undefined ? 'undefined' : JSON.stringify(releasePublicKey),
      SVC_BUILD_CONSOLE: console === undefined ? 'undefined' : JSON.stringify(console),
      SVC_BUILD_ALONE: isAlone ? 'true' : 'undefined',
      // Only readVersion looks at it, where nothing was built.
      'import.meta.url': '""',
    },
    plugins: [storeAddonBeside],
  })
  // What esbuild only warns of (import.meta, a require that it cannot follow) fails where the bundle runs.
  if (warnings.length > 0) {
    const texts = await formatMessages(warnings, { kind: 'warning' })
    throw new SvcError('bundle_warning', `${entry} cannot be bundled as it is:\n${texts.join('')}`)
  }
}

/** On an older Node it would fail later, and say something else. */
function refuseOlderNode(): string {
  const message = `needs Node ${NODE_MAJOR} or newer, this is `
  return (
    `if(parseInt(process.versions.node,10)<${NODE_MAJOR}){` +
    `console.error(require('node:path').basename(__filename)+': error: ${message}'+process.version);` +
    'process.exit(1)}'
  )
}

/**
 * The package looks for its addon below its own directory, which a bundle has not. `__dirname` is that of the bundle,
 * wherever that is installed.
 */
const storeAddonBeside: Plugin = {
  name: 'store-addon-beside',
  setup(builder) {
    builder.onLoad({ filter: /better-sqlite3-multiple-ciphers\/lib\/binding\.js$/ }, () => ({
      contents: `
        const path = require('node:path')
        const addon = path.join(__dirname, ${JSON.stringify(STORE_ADDON)})
        exports.getBinding = () => require(addon)
      `,
      loader: 'js',
    }))
  },
}
