import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { UserError } from '../../../platform/errors.ts'
import { Output } from '../../terminal/output.ts'
import type { CommandContext } from '../command-context.ts'
import { runCommandLine } from '../program.ts'

const ROW = {
  id: '30000000-0000-4000-8000-000000000001',
  carga_id: '10000000-0000-4000-8000-000000000001',
  agente_id: '00000000-0000-4000-8000-000000000001',
  hostname: 'web-1.example.org',
  tipo: 'csr_cert',
  nome: 'site',
  versao: 1,
  status: 'falhou',
  updated_at: '2026-11-20T12:00:00.123Z',
  erro: 'a reason that is longer than what is left of a line of one hundred characters',
}

async function run(args: readonly string[], operations: object): Promise<string> {
  let text = ''
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString()
      done()
    },
  })
  const context = {
    output: new Output(stream),
    progress: { show: () => undefined, clear: () => undefined },
    useOptions: () => undefined,
    withAdmin: async (work: (session: object) => Promise<unknown>) => work({ operations }),
  }
  await runCommandLine(['entrega', 'list', ...args], context as unknown as CommandContext)
  return text
}

describe('svc entrega list', () => {
  const newer = { findDeliveries: async () => ({ entregas: [ROW], next: null }) }

  test('[CLI-53] fits a line of 100 characters, of which the reason has what is left', async () => {
    const [head = '', row = ''] = (await run([], newer)).split('\n')
    assert.match(head, /^HOSTNAME {11}/)
    assert.match(row, / 2026-11-20T12:00:00Z {2}a reason that is longer t…$/)
    assert.equal(row.length, 100)
    assert.match(await run(['--wide'], newer), / of one hundred characters /)
  })

  test('[CLI-53] prints names, ids and CSV', async () => {
    assert.equal(await run(['-o', 'name'], newer), 'web-1.example.org/site\n')
    assert.equal(await run(['-q'], newer), `${ROW.id}\n`)
    const [, line = ''] = (await run(['-o', 'csv'], newer)).split('\n')
    assert.match(line, /^web-1\.example\.org,site,csr_cert,1,/)
  })

  test('[CLI-10] asks for what its options say', async () => {
    const requests: unknown[] = []
    const findDeliveries = async (request: object) => {
      requests.push(request)
      return { entregas: [], next: null }
    }
    const filters =
      '--all --agente a --role r --carga c --status falhou --q web- --late --sort host'
    await run(filters.split(' '), { findDeliveries })
    assert.deepEqual(requests, [
      {
        limit: 2000,
        agente: 'a',
        role: 'r',
        carga: 'c',
        status: ['falhou'],
        late: true,
        sort: 'host',
        q: 'web-',
        all: true,
      },
    ])
  })

  test('[CLI-55] [WRD-10] takes English options and values, mixed with the Portuguese ones', async () => {
    const requests: unknown[] = []
    const findDeliveries = async (request: object) => {
      requests.push(request)
      return { entregas: [], next: null }
    }
    const args = '--agent a --carga c --status failed --status pendente'
    await run(args.split(' '), { findDeliveries })
    assert.deepEqual(requests, [
      { limit: 2000, agente: 'a', carga: 'c', status: ['falhou', 'pendente'] },
    ])
  })

  describe('[CLI-52] beside a hub that lists all entregas alike', () => {
    const rows = [ROW, { ...ROW, nome: 'old', status: 'cancelada' }]
    const older = {
      findDeliveries: async () => {
        throw new UserError('route_not_found', 'no such route')
      },
      listDeliveries: async () => ({ entregas: rows, next: null }),
    }

    test('leaves out what is over', async () => {
      assert.equal(await run(['-o', 'name'], older), 'web-1.example.org/site\n')
      assert.match(await run(['-o', 'name', '--all'], older), /\/old\n$/)
    })

    test('refuses a filter', async () => {
      await assert.rejects(run(['--role', 'web'], older), { code: 'hub_too_old' })
    })
  })
})
