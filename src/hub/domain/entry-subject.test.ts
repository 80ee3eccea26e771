import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subjectsOfAct } from './entry-subject.ts'

test('[CHN-10] an act on a carga is about it, also when it has left the store', () => {
  const payloadText = '{"actor":"admin","carga_id":"c-1"}'
  for (const type of ['carga_created', 'carga_updated', 'carga_removed', 'carga_selected'])
    assert.deepEqual(subjectsOfAct({ eventType: type, payloadText }, undefined), [
      'ator:admin',
      'c-1',
    ])
  assert.deepEqual(subjectsOfAct({ eventType: 'carga_assigned', payloadText }, 'a-1'), [
    'ator:admin',
    'a-1',
  ])
})
