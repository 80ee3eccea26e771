// The files that the checks look at.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export const ROOT: string = join(import.meta.dirname, '..')

export interface SourceFile {
  /** Relative to the repository, with `/`. */
  readonly path: string
  readonly text: string
}

/** Files below the directories whose names end in one of the suffixes, in path order. */
export function findFiles(directories: readonly string[], suffixes: readonly string[]): string[] {
  return directories
    .map((directory) => join(ROOT, directory))
    .filter((directory) => existsSync(directory))
    .flatMap((directory) => readdirSync(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && suffixes.some((suffix) => entry.name.endsWith(suffix)))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .toSorted()
}

export function readSources(paths: readonly string[]): SourceFile[] {
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

export function isTestFile(path: string): boolean {
  return path.startsWith('test/') || /\.test\.tsx?$/.test(path)
}
