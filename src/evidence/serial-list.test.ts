import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSeededRandom, seedFrom } from '../../test/simulation/seeded-random.ts'
import { readSerialList } from './serial-list.ts'
import { SerialSet } from './serial-set.ts'

async function* inPieces(text: string, bytes = 7): AsyncGenerator<Buffer> {
  const all = Buffer.from(text)
  for (let at = 0; at < all.length; at += bytes) yield all.subarray(at, at + bytes)
}

const read = (text: string, serialsMax?: number): Promise<SerialSet> =>
  readSerialList(inPieces(text), { name: 'issued.txt', ...(serialsMax && { serialsMax }) })

describe('[EVD-10] a list of serials', () => {
  test('has each once, in its order, whatever stands around it', async () => {
    const list = await read(
      '# step-ca\r\n10\n\n0xA # the same\n  serial=0F \n0\n00:00\n31337 (0x7a69)',
    )
    assert.deepEqual([...list], ['a', 'f', '0', '7a69'])
    assert.equal(list.size, 4)
  })

  test('names the line that is none, is no text, or is too long', async () => {
    const error = (text: string): Promise<string> =>
      read(text).then(
        () => assert.fail(),
        ({ message }: Error) => message,
      )
    assert.equal(await error('1\n2\nthree\n4\n'), 'issued.txt, line 3: three is no serial')
    assert.equal(await error('1\n10 (0xb)'), 'issued.txt, line 2: 10 (0xb) is no serial')
    const long = await error(`1\n${'1'.repeat(5000)}\n`)
    assert.equal(long, 'issued.txt, line 2: it has more than 4096 bytes')
    const bytes = (async function* () {
      yield Buffer.from([0x31, 10, 0xff, 10])
    })()
    await assert.rejects(readSerialList(bytes, { name: 'x' }), {
      message: 'x, line 2: it is not UTF-8',
    })
  })

  test('has a bound, and names the line that goes beyond it', async () => {
    assert.equal((await read('1\n1\n2\n3\n', 3)).size, 3)
    await assert.rejects(read('1\n2\n3\n4\n', 3), {
      message: 'issued.txt, line 4: these are more than 3 serials',
    })
  })

  test('is a set: it says what it has, and what nobody has found yet', () => {
    const seed = seedFrom(process.env['SIM_SEED'])
    process.stdout.write(`serial seed ${seed}\n`)
    const random = createSeededRandom(seed)
    // Few enough to come twice, and of every length.
    const some = (): string => {
      const digits = Array.from({ length: 1 + Math.floor(random() * 64) }, () =>
        Math.floor(random() * 16).toString(16),
      )
      return digits
        .join('')
        .slice(0, random() < 0.5 ? 3 : 64)
        .replace(/^0+(?=.)/, '')
    }
    const model = new Map<string, boolean>()
    const set = new SerialSet()
    for (let turn = 0; turn < 30_000; turn += 1) {
      const serial = some()
      assert.equal(set.has(serial), model.has(serial))
      if (random() < 0.7) {
        assert.equal(set.add(serial), !model.has(serial), serial)
        if (!model.has(serial)) model.set(serial, false)
      } else {
        assert.equal(set.find(serial), model.get(serial) === false)
        if (model.has(serial)) model.set(serial, true)
      }
    }
    assert.deepEqual([...set], [...model.keys()])
    assert.equal(set.missing, [...model.values()].filter((isFound) => !isFound).length)
  })

  test('of more than a piece of memory is whole', { timeout: 60_000 }, () => {
    const set = new SerialSet()
    const count = 600_000
    const serial = (at: number): string => `f${String(at).padStart(63, '0')}`
    for (let at = 0; at < count; at += 1) set.add(serial(at))
    assert.equal(set.size, count)
    let at = 0
    for (const one of set) assert.equal(one, serial(at++))
    assert.equal(at, count)
    assert.ok(set.has(serial(count - 1)) && !set.has(serial(count)))
  })
})
