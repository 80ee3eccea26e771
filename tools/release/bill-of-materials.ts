// What the programs are made of, as CycloneDX: npm's own account of the lockfile, and of the Node inside.

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { invariant } from '../../src/platform/errors.ts'
import { ROOT } from '../source-files.ts'

export interface BillOfMaterialsTarget {
  readonly version: string
  readonly releasedAt: Date
  readonly outputDirectory: string
}

interface Component {
  readonly name: string
  readonly version: string
  readonly 'bom-ref': string
  readonly properties?: readonly { readonly name: string }[]
}

interface BillOfMaterials {
  readonly bomFormat: string
  readonly serialNumber?: string
  readonly metadata: { readonly timestamp: string; readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const DEVELOPMENT = 'cdx:npm:package:development'

/** Returns the file's name. */
export async function writeBillOfMaterials(target: BillOfMaterialsTarget): Promise<string> {
  // All of it: with --omit=dev npm drops what we and a tool of ours both use (npm/cli#7909).
  const { stdout } = await promisify(execFile)(
    'npm',
    ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'],
    { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 },
  )
  const bill = withoutTools(JSON.parse(stdout) as BillOfMaterials)
  await checkIsWhole(bill)
  const name = `cartorio-${target.version}.cdx.json`
  const text = JSON.stringify(asReleased(bill, target), undefined, 2)
  await writeFile(join(target.outputDirectory, name), `${text}\n`)
  return name
}

function withoutTools(bill: BillOfMaterials): BillOfMaterials {
  const tools = new Set(
    bill.components
      .filter(({ properties = [] }) => properties.some(({ name }) => name === DEVELOPMENT))
      .map((part) => part['bom-ref']),
  )
  return {
    ...bill,
    components: bill.components.filter((part) => !tools.has(part['bom-ref'])),
    dependencies: bill.dependencies
      .filter(({ ref }) => !tools.has(ref))
      .map(({ ref, dependsOn }) => ({
        ref,
        dependsOn: dependsOn.filter((part) => !tools.has(part)),
      })),
  }
}

/** npm names the project for its directory, and draws a number and the time at each run. */
function asReleased(
  { serialNumber: _drawn, ...bill }: BillOfMaterials,
  { version, releasedAt }: BillOfMaterialsTarget,
): BillOfMaterials {
  const purl = `pkg:npm/cartorio@${version}`
  const component = { ...bill.metadata.component, name: 'cartorio', version, purl }
  return {
    ...bill,
    metadata: { ...bill.metadata, timestamp: releasedAt.toISOString(), component },
  }
}

async function checkIsWhole({ bomFormat, components }: BillOfMaterials): Promise<void> {
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
    optionalDependencies: Record<string, string>
  }
  invariant(bomFormat === 'CycloneDX', 'npm sbom writes what it was asked for')
  // The optional dependencies are the Node of each architecture.
  const expected = { ...manifest.dependencies, ...manifest.optionalDependencies }
  for (const [name, version] of Object.entries(expected)) {
    const isListed = components.some((part) => part.name === name && part.version === version)
    invariant(isListed, `the bill of materials has no ${name} ${version}`)
  }
}
