import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { labelsOf, parseOsRelease, readHostLabels } from './host-labels.ts'

const NONE = {
  os: undefined,
  arch: undefined,
  distribution: undefined,
  'distribution-version': undefined,
  'agent-version': undefined,
}

describe('[LBL-12] a host says of itself', () => {
  test('what the agent sees, and what SVC_LABELS has', async () => {
    const labels = await readHostLabels('0.5.0', new Map([['rack', 'r7']]))
    assert.equal(labels.get('os'), process.platform)
    assert.equal(labels.get('arch'), process.arch)
    assert.equal(labels.get('agent-version'), '0.5.0')
    assert.equal(labels.get('rack'), 'r7')
  })

  test('nothing that it does not know, and no value that no label can have', () => {
    const seen = { ...NONE, os: 'linux', distribution: '', 'distribution-version': '"11 (x)"' }
    assert.deepEqual(Object.fromEntries(labelsOf(seen, new Map())), {
      os: 'linux',
      'distribution-version': '11-x',
    })
    const long = { ...NONE, 'agent-version': `${'v'.repeat(62)}--more` }
    assert.deepEqual([...labelsOf(long, new Map())], [['agent-version', 'v'.repeat(62)]])
    assert.equal(labelsOf({ ...NONE, os: '...' }, new Map()).size, 0)
  })

  test('its distribution as os-release has it', () => {
    const text = `# comment
NAME="Debian GNU/Linux"
ID=debian
VERSION_ID="12"
PRETTY_NAME='It''s'
BAD="$(reboot)"
OPEN="a
VARIANT_ID='edge' \r
LAST=x y
`
    assert.deepEqual(Object.fromEntries(parseOsRelease(text)), {
      NAME: 'Debian GNU/Linux',
      ID: 'debian',
      VERSION_ID: '12',
      VARIANT_ID: 'edge',
    })
    assert.deepEqual([...parseOsRelease('')], [])
  })
})
