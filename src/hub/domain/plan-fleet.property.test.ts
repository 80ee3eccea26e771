import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../test/support/property.ts'
import type { DeclaredKind } from '../../protocol/admin/declared.ts'
import {
  type DeclaredObject,
  type Fields,
  findOthersField,
  type FleetPlan,
  OBJECT,
  type OwnedField,
  planFleet,
  type PresentObject,
  type WhenUndeclared,
} from './plan-fleet.ts'

/** One kind of each sort. */
const SORTS: Readonly<Partial<Record<DeclaredKind, WhenUndeclared>>> = {
  politica: 'remove object',
  agente: 'remove fields',
  admin_token: 'release',
}
const KINDS = Object.keys(SORTS) as DeclaredKind[]

/** The simplest hub that does what a plan says. */
class Model {
  present = new Map<string, PresentObject>()
  owned = new Map<string, OwnedField>()

  plan(
    manager: string,
    declared: readonly DeclaredObject[],
    isPruning: boolean,
    takesOver = false,
  ) {
    return planFleet({
      manager,
      isPruning,
      takesOver,
      declared,
      present: [...this.present.values()],
      owned: [...this.owned.values()],
      whenUndeclared: (kind) => SORTS[kind] ?? 'release',
    })
  }

  apply(manager: string, { changes }: FleetPlan): void {
    for (const { kind, name, action, fields, takes, takesObject, releases } of changes) {
      const id = `${kind} ${name}`
      if (action === 'remove') {
        this.present.delete(id)
        for (const [key, row] of this.owned) if (row.id === id) this.owned.delete(key)
        continue
      }
      const after: Record<string, Fields[string]> = { ...this.present.get(id)?.fields }
      for (const { field, after: value } of fields) {
        if (value === null) delete after[field]
        else after[field] = value
      }
      this.present.set(id, { kind, name, id, fields: after })
      const object = takesObject && SORTS[kind] === 'remove object' ? [OBJECT] : []
      for (const field of releases) this.owned.delete(`${id} ${field}`)
      for (const field of [...object, ...takes]) {
        this.owned.set(`${id} ${field}`, { kind, id, name, field, manager })
      }
    }
  }
}

const fieldsOf = fc.dictionary(
  fc.constantFrom('a', 'b', 'constructor'),
  fc.constantFrom('x', 'y', 'z'),
)
const fleet = fc.uniqueArray(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    name: fc.constantFrom('one', 'two', 'three'),
    fields: fieldsOf,
  }),
  { selector: ({ kind, name }) => `${kind} ${name}`, maxLength: 9 },
)
const step = fc.record({
  manager: fc.constantFrom('red', 'blue'),
  declared: fleet,
  isPruning: fc.boolean(),
  takesOver: fc.boolean(),
})
/** A hand that sets a field of whatever is there. */
const hand = fc.record({
  at: fc.nat(20),
  field: fc.constantFrom('a', 'toString'),
  value: fc.constant('h'),
})

test('[DCL-4] [DCL-6] [DCL-7] after any history of applies and hands, an apply leaves nothing to do, and takes nothing of others', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(step, hand), { maxLength: 12 }), (history) => {
      const model = new Model()
      for (const each of history) {
        if (!('manager' in each)) {
          const found = [...model.present.values()][each.at]
          if (found === undefined) continue
          const fields = { ...found.fields, [each.field]: each.value }
          model.present.set(found.id, { ...found, fields })
          continue
        }
        const { manager, declared, isPruning, takesOver } = each
        const plan = model.plan(manager, declared, isPruning, takesOver)
        if (findOthersField(plan) !== undefined) {
          assert.ok(!takesOver, 'who takes over has no quarrel')
          continue
        }
        const others = [...model.owned.values()].filter((row) => row.manager !== manager)
        model.apply(manager, plan)
        for (const { kind, name, fields } of declared) {
          const { fields: now = {} } = model.present.get(`${kind} ${name}`) ?? {}
          for (const [field, value] of Object.entries(fields)) assert.equal(now[field], value)
        }
        if (!takesOver) {
          for (const row of others) {
            assert.deepEqual(model.owned.get(`${row.id} ${row.field}`), row, 'others keep theirs')
            assert.ok(model.present.has(row.id), 'and it is there')
          }
        }
        const again = model.plan(manager, declared, isPruning, takesOver)
        assert.deepEqual(again.changes, [])
        if (!isPruning) continue
        assert.deepEqual(again.unlisted, [])
        for (const row of model.owned.values()) {
          if (row.manager !== manager) continue
          const named = declared.find(({ kind, name }) => kind === row.kind && name === row.name)
          const isNamed = row.field === OBJECT || Object.hasOwn(named?.fields ?? {}, row.field)
          assert.ok(named !== undefined && isNamed, 'what is not declared is not owned')
        }
      }
    }),
    propertyRuns(),
  )
})
