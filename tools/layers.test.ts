import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkSources } from './layers.ts'
import { findFiles, readSources } from './source-files.ts'

describe('the table of rooms', () => {
  const seededFaults = [
    ['an agent that imports the hub', 'src/agent/x.ts', `import { a } from '../hub/boot.ts'`],
    [
      'a protocol that imports the platform',
      'src/protocol/x.ts',
      `import { a } from '../platform/clock.ts'`,
    ],
    [
      'a service that imports an adapter',
      'src/hub/service/x.ts',
      `import { a } from '../store/sqlite/b.ts'`,
    ],
    [
      'a type that crosses a wall',
      'src/pki/x.ts',
      `import type { A } from '../hub/domain/agent.ts'`,
    ],
    [
      'an import over several lines',
      'src/audit/x.ts',
      `import {\n  a,\n  b,\n} from '../pki/csr.ts'`,
    ],
    ['an import for effect', 'src/audit/x.ts', `import '../pki/csr.ts'`],
    ['an import at run time', 'src/agent/x.ts', `const a = await import('../hub/boot.ts')`],
    ['an export from elsewhere', 'src/audit/x.ts', `export { a } from '../pki/csr.ts'`],
    [
      'a value where types are allowed',
      'src/hub/domain/x.ts',
      `import { a } from '../../pki/csr.ts'`,
    ],
    ['a program that imports a test', 'src/agent/x.ts', `import { a } from './b.test.ts'`],
    [
      'a program that imports a fake',
      'src/agent/x.ts',
      `import { a } from '../../test/fakes/hub.ts'`,
    ],
    [
      'a decision that imports the clock',
      'src/hub/domain/x.ts',
      `import { a } from '../../platform/clock.ts'`,
    ],
    ['a file in no room', 'src/attic/x.ts', ''],
    ['a screen that imports the hub', 'src/console/x.tsx', `import { a } from '../hub/boot.ts'`],
    [
      'a screen that goes by the clock of the browser',
      'src/console/screens/x.tsx',
      'const now = Date.now()',
    ],
  ] as const
  for (const [title, path, text] of seededFaults) {
    test(`refuses ${title}`, () => {
      assert.equal(checkSources([{ path, text: `// A file.\n${text}` }]).length, 1)
    })
  }

  const fine = [
    ['src/hub/service/x.ts', `import type { Store } from '../store/store.ts'`],
    ['src/hub/domain/x.ts', `import type { A } from '../../pki/csr.ts'`],
    ['src/agent/x.ts', `import { test } from 'node:test'\nimport { a } from './b.ts'`],
    ['src/agent/x.test.ts', `import { a } from '../../test/fakes/hub.ts'`],
    ['src/console/parts/x.tsx', `import { a } from '../../protocol/b.ts'`],
    ['src/console/parts/x.tsx', 'setTimeout(hide, 10)'],
  ] as const
  for (const [path, text] of fine) {
    test(`lets ${path} say ${text.split('\n').at(-1)}`, () => {
      assert.deepEqual(checkSources([{ path, text }]), [])
    })
  }

  test('refuses rooms that form a circle, by a type too', () => {
    const files = [
      { path: 'src/hub/http/x.ts', text: `import { a } from './json/y.ts'` },
      { path: 'src/hub/http/json/y.ts', text: `import type { B } from '../x.ts'` },
    ]
    const circles = checkSources(files).filter(({ what }) => what.endsWith('form a circle'))
    assert.deepEqual(circles.map(({ at }) => at).sort(), [
      'src/hub/http/json/y.ts:1',
      'src/hub/http/x.ts:1',
    ])
  })

  test('names the line of the fault', () => {
    const text = `// One.\n\nimport { a } from '../hub/boot.ts'`
    assert.equal(checkSources([{ path: 'src/agent/x.ts', text }])[0]?.at, 'src/agent/x.ts:3')
  })
})

describe('tidiness', () => {
  const seededFaults = [
    'const a = process.env',
    'const a = Date.now()',
    'const a = new Date()',
    'setTimeout(a, 1)',
    'const a = Math.random()',
    'export default 1',
  ]
  for (const text of seededFaults) {
    test(`refuses ${text}`, () => {
      assert.equal(checkSources([{ path: 'src/agent/x.ts', text }]).length, 1)
    })
  }

  test('refuses a file whose name says nothing', () => {
    assert.equal(checkSources([{ path: 'src/agent/utils.ts', text: '' }]).length, 1)
    assert.equal(checkSources([{ path: 'tools/helpers.ts', text: '' }]).length, 1)
  })
  test('lets a reason stand, on the line or above it', () => {
    const text = `setTimeout(a, 1) // tidy: a kill timer.\n// tidy: another.\nsetTimeout(a, 1)`
    assert.deepEqual(checkSources([{ path: 'src/agent/x.ts', text }]), [])
  })
  test('takes no empty reason', () => {
    const text = 'setTimeout(a, 1) // tidy:'
    assert.equal(checkSources([{ path: 'src/agent/x.ts', text }]).length, 1)
  })
  test('looks at code, not at comments', () => {
    assert.deepEqual(
      checkSources([{ path: 'src/agent/x.ts', text: '// process.env is not read.' }]),
      [],
    )
  })
  test('lets main and config read the environment', () => {
    assert.deepEqual(checkSources([{ path: 'src/agent/main.ts', text: 'run(process.env)' }]), [])
  })
})

test('the sources of this repository keep to the table and are tidy', () => {
  const files = readSources(
    findFiles(['src', 'tools', 'bench', 'fleet', 'reliability', 'test'], ['.ts']),
  )
  assert.ok(files.length >= 50, `only ${files.length} files seen`)
  assert.deepEqual(checkSources(files), [])
})
