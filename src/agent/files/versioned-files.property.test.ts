import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../test/support/property.ts'
import { ForeignFileError, switchVersion, type VersionedLayout } from './versioned-files.ts'

async function withLayout(
  work: (layout: VersionedLayout, versions: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'versions-property-'))
  try {
    const versions = join(directory, '.versions/site')
    await mkdir(versions, { recursive: true })
    const links = { 'site.crt': 'cert.pem', 'site.key': 'key.pem' }
    await work({ directory, versionsPath: '.versions/site', links, directoryMode: 0o755 }, versions)
  } finally {
    await rm(directory, { recursive: true })
  }
}

const pair = [
  { name: 'cert.pem', content: 'new', mode: 0o644 },
  { name: 'key.pem', content: 'new', mode: 0o600 },
]
const name = fc.oneof(
  fc.nat({ max: 20 }).map((count) => String(count).padStart(6, '0')),
  fc.constantFrom(
    '999999',
    '1000000',
    '000000',
    '00001',
    '.current.abc.tmp',
    'x',
    '000001x',
    '-00001',
  ),
)

test('[AGT-35] [AGT-38] whatever versions a crash left, the new one is the greatest, and of the others only the last stays', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name, { maxLength: 6 }), fc.nat(), (names, pick) =>
      withLayout(async (layout, versions) => {
        for (const one of names) await mkdir(join(versions, one))
        const numbered = names.filter((one) => /^\d{6,}$/.test(one))
        const current = numbered[pick % (numbered.length + 1)]
        if (current !== undefined) await symlink(current, join(versions, 'current'))
        await switchVersion(layout, pair)
        const target = await readlink(join(versions, 'current'))
        assert.match(target, /^\d{6,}$/)
        if (current !== undefined) assert.ok(Number(target) > Number(current))
        const left = (await readdir(versions)).sort()
        const expected = ['current', target, ...(current === undefined ? [] : [current])]
        assert.deepEqual(left, expected.sort())
        assert.equal(await readFile(join(layout.directory, 'site.crt'), 'utf8'), 'new')
      }),
    ),
    propertyRuns(25),
  )
})

test('[AGT-39] a current version of any other name was not made by the agent, and nothing is changed', async () => {
  const foreign = fc.constantFrom(
    '..',
    '/etc',
    '../other',
    '12345',
    '000001/',
    'x',
    '000001\n',
    ' 000001',
    '１２３４５６',
  )
  await fc.assert(
    fc.asyncProperty(foreign, (target) =>
      withLayout(async (layout, versions) => {
        await symlink(target, join(versions, 'current'))
        await assert.rejects(switchVersion(layout, pair), ForeignFileError)
        assert.deepEqual(await readdir(versions), ['current'])
        assert.equal(await readlink(join(versions, 'current')), target)
      }),
    ),
    propertyRuns(15),
  )
})
