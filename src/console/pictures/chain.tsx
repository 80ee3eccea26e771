// Entries as the chain has them: the hash of each stands again as the next one's "before". docs/protocol.md CHN-2.

import { Fragment } from 'preact'
import type { JSX } from 'preact'
import { Icon } from '../parts/icon.tsx'
import { HashBars, shortHash } from './hash-bars.tsx'

export interface ChainBlock {
  readonly seq: number
  readonly title: string
  readonly who: string
  readonly before: string
  readonly hash: string
  readonly href: string
  /** Computed here; undefined while that goes on. */
  readonly isHashRight: boolean | undefined
}

export interface ChainWords {
  readonly entry: string
  readonly before: string
  readonly hash: string
  readonly joined: string
  readonly broken: string
  readonly table: string
  readonly equal: string
  readonly other: string
  readonly computing: string
  readonly count: (count: number) => string
}

export function Chain({
  blocks,
  chosen,
  words,
}: {
  readonly blocks: readonly ChainBlock[]
  readonly chosen: number
  readonly words: ChainWords
}): JSX.Element {
  return (
    <>
      <div class="chain">
        {blocks.map((block, at) => (
          <Fragment key={block.seq}>
            {at > 0 && <Join isJoined={isJoined(blocks, at)} far={isFar(blocks, at, chosen)} />}
            <Block
              block={block}
              isChosen={block.seq === chosen}
              isReturning={at > 0 && isJoined(blocks, at)}
              words={words}
              far={farFrom(block, chosen)}
            />
          </Fragment>
        ))}
      </div>
      <ChainTable blocks={blocks} words={words} />
    </>
  )
}

function Block({
  block,
  isChosen,
  isReturning,
  words,
  far,
}: {
  readonly block: ChainBlock
  readonly isChosen: boolean
  /** Its "before" is the hash of the block before. */
  readonly isReturning: boolean
  readonly words: ChainWords
  readonly far: boolean
}): JSX.Element {
  const { seq, title, who, before, hash, href, isHashRight } = block
  const tone = isHashRight === undefined ? 'faint' : isHashRight ? 'c-ok' : 'c-bad'
  return (
    <a
      class={`block${isChosen ? ' on' : ''}${far ? ' far' : ''}`}
      href={href}
      aria-current={isChosen ? 'true' : undefined}
    >
      <span class="t">{title}</span>
      <span class="q" title={who}>
        {words.count(seq)} · {who}
      </span>
      <span class="hash-bars" aria-hidden="true">
        <span>{words.before}</span>
        <span class={isReturning ? 'c-ok' : 'faint'}>
          <HashBars hash={before} />
        </span>
      </span>
      <span class="hash-bars" aria-hidden="true">
        <span>{words.hash}</span>
        <span class={tone}>
          <HashBars hash={hash} />
        </span>
      </span>
    </a>
  )
}

function Join({
  isJoined: isWhole,
  far,
}: {
  readonly isJoined: boolean
  readonly far: boolean
}): JSX.Element {
  return (
    <span class={`join${isWhole ? '' : ' broken'}${far ? ' far' : ''}`} aria-hidden="true">
      <span>
        <Icon name={isWhole ? 'check' : 'x'} />
      </span>
    </span>
  )
}

/** The same for who does not see it: which hash stands where, and whether it is right. */
function ChainTable({
  blocks,
  words,
}: {
  readonly blocks: readonly ChainBlock[]
  readonly words: ChainWords
}): JSX.Element {
  return (
    <div class="visually-hidden">
      <table>
        <caption>{words.table}</caption>
        <thead>
          <tr>
            <th scope="col">{words.entry}</th>
            <th scope="col">{words.before}</th>
            <th scope="col">{words.hash}</th>
          </tr>
        </thead>
        <tbody>
          {blocks.map(({ seq, title, before, hash, isHashRight }, at) => (
            <tr key={seq}>
              <th scope="row">
                {words.count(seq)} {title}
              </th>
              <td>
                {shortHash(before)}
                {at > 0 && `, ${isJoined(blocks, at) ? words.joined : words.broken}`}
              </td>
              <td>
                {shortHash(hash)},{' '}
                {isHashRight === undefined
                  ? words.computing
                  : isHashRight
                    ? words.equal
                    : words.other}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function isJoined(blocks: readonly ChainBlock[], at: number): boolean {
  return blocks[at]?.before === blocks[at - 1]?.hash
}

function farFrom({ seq }: ChainBlock, chosen: number): boolean {
  return Math.abs(seq - chosen) > 1
}

function isFar(blocks: readonly ChainBlock[], at: number, chosen: number): boolean {
  return [blocks[at - 1], blocks[at]].some((block) => block !== undefined && farFrom(block, chosen))
}
