import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findPlan,
  findRecipients,
  readDraft,
  readNames,
  readWaves,
  WAVES_DRAFT,
} from './read-form.ts'

const rehearsal = (payload: Readonly<Record<string, unknown>>) => ({
  dry_run: true as const,
  acts: [{ tipo: 'carga_created', payload, entrega_id: null }],
  agentes: 2,
})

test('names are read however they are divided, each once', () => {
  assert.deepEqual(readNames(' a.example,  b.example\nb.example;c.example '), [
    'a.example',
    'b.example',
    'c.example',
  ])
})

test('a draft asks nothing until it says what and for whom', () => {
  const draft = { nome: 'site', whom: 'agentes', hosts: '', names: '' } as const
  assert.equal(readDraft(draft), undefined)
  assert.equal(readDraft({ ...draft, hosts: 'web-1', nome: ' ' }), undefined)
  assert.deepEqual(readDraft({ ...draft, hosts: 'web-1\nweb-2', names: 'www.example' }), {
    tipo: 'csr_cert',
    nome: 'site',
    agentes: ['web-1', 'web-2'],
    roles: [],
    sans: ['www.example'],
  })
})

test('a line that is more than one name asks nothing', () => {
  const draft = { nome: 'site', whom: 'agentes', hosts: 'web-1 web-2', names: '' } as const
  assert.equal(readDraft(draft), undefined)
  assert.equal(readDraft({ ...draft, whom: 'roles', hosts: 'web,db' }), undefined)
})

test('a selector is one text, with its commas', () => {
  const request = readDraft({
    nome: 'site',
    whom: 'where',
    hosts: 'role=web,env in (prod, stage)',
    names: '',
  })
  assert.equal(request?.where, 'role=web,env in (prod, stage)')
  assert.deepEqual(request?.agentes, [])
})

test('nobody is a choice of its own', () => {
  const request = readDraft({ nome: 'site', whom: 'unassigned', hosts: '', names: '' })
  assert.equal(request?.unassigned, true)
})

test('who gets it is what the entry would name, or how many', () => {
  assert.deepEqual(findRecipients(rehearsal({ agentes: ['a', 'b'] })), {
    total: 2,
    hostnames: ['a', 'b'],
  })
  assert.deepEqual(findRecipients(rehearsal({ agentes_total: 9000 })), {
    total: 9000,
    hostnames: [],
  })
  assert.deepEqual(findPlan(rehearsal({ waves: [{ wave: '1', hosts: 1 }] })), [
    { wave: '1', hosts: 1 },
  ])
})

test('waves are minutes for people and seconds for the hub', () => {
  assert.deepEqual(readWaves(WAVES_DRAFT), {
    waves: ['1', '10%', '50%', '100%'],
    soak_seconds: 600,
    max_failed: '0',
    late_seconds: 3600,
  })
  assert.equal(readWaves({ ...WAVES_DRAFT, soakMinutes: 'soon' }), undefined)
})
