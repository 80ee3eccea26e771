// What the collection says of itself; `npm run ansible` runs it.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { ROOT } from '../../tools/source-files.ts'

const COLLECTION = join(ROOT, 'deploy/ansible')

async function readYaml<T>(path: string): Promise<T> {
  return parse(await readFile(join(COLLECTION, path), 'utf8')) as T
}

test('the collection has the version of the programs', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    version: string
  }
  assert.equal((await readYaml<{ version: string }>('galaxy.yml')).version, version)
})

describe('a role', () => {
  for (const role of ['svc_agent', 'svc_fleet']) {
    test(`${role} describes each of its variables, and no other`, async () => {
      const { argument_specs: specs } = await readYaml<{
        argument_specs: { main: { options: Record<string, { required?: boolean }> } }
      }>(`roles/${role}/meta/argument_specs.yml`)
      const { options } = specs.main
      const defaults = await readYaml<object>(`roles/${role}/defaults/main.yml`)
      const optional = Object.keys(options).filter((name) => options[name]?.required !== true)
      assert.deepEqual(new Set(optional), new Set(Object.keys(defaults)))
    })
  }

  test('README.md names no variable that there is not', async () => {
    const readme = await readFile(join(COLLECTION, 'README.md'), 'utf8')
    const named = new Set(readme.match(/\bsvc_(?:agent|fleet)_\w+/g))
    const known = await Promise.all(
      ['svc_agent', 'svc_fleet'].map((role) =>
        readFile(join(COLLECTION, `roles/${role}/meta/argument_specs.yml`), 'utf8'),
      ),
    )
    const text = `${known.join('')} svc_fleet_host:`
    assert.ok(named.size > 5)
    for (const name of named) assert.ok(text.includes(`${name}:`), name)
  })
})
