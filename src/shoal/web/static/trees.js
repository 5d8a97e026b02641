// Trees that are edited by hand: pure functions from tree to tree. A node is {label, children?}; a path is a list of places.

// The description of a tree as a job writes it: lists hold values, dicts hold groups.
export function toSpec(tree) {
  const below = (children) => {
    if (children.every((child) => !child.children)) return children.map((child) => child.label);
    const distinct = new Set(children.map((child) => child.label)).size === children.length;
    if (distinct && children.every((child) => child.children)) return Object.fromEntries(children.map((child) => [child.label, below(child.children)]));
    return children.map((child) => (child.children ? { [child.label]: below(child.children) } : child.label));
  };
  return { [tree.label]: below(tree.children ?? []) };
}

export const at = (tree, path) => path.reduce((node, place) => node.children[place], tree);
export const leaves = (node) => (node.children ? node.children.reduce((sum, child) => sum + leaves(child), 0) : 1);
export const same = (one, other) => one.length === other.length && one.every((place, order) => place === other[order]);
export const within = (path, above) => above.length <= path.length && above.every((place, order) => place === path[order]);

// The tree with one node replaced by what a function makes of it; an empty group disappears.
function change(tree, path, make) {
  if (path.length === 0) return make(tree);
  const children = tree.children.map((child, place) => (place === path[0] ? change(child, path.slice(1), make) : child)).filter(Boolean);
  return { ...tree, children };
}

// Groups that have lost all their children are no values: they go.
function tidy(node) {
  if (!node.children) return node;
  const children = node.children.map(tidy).filter(Boolean);
  return children.length ? { ...node, children } : null;
}

export const rename = (tree, path, label) => change(tree, path, (node) => ({ ...node, label }));

// The nodes at these paths, taken out of the tree and put below the node at `target`.
export function move(tree, paths, target) {
  const chosen = paths.filter((path) => path.length && !within(target, path) && !paths.some((other) => other !== path && within(path, other) && !same(path, other)));
  if (!chosen.length) return tree;
  const moved = chosen.map((path) => at(tree, path));
  const goal = at(tree, target);
  const marked = new Set(moved);
  const without = (node) => (marked.has(node) ? null : node.children ? { ...node, children: node.children.map(without).filter(Boolean), goal: node === goal } : node);
  const put = (node) => {
    if (!node.children) return node;
    const { goal: here, ...kept } = node;
    const children = node.children.map(put);
    return { ...kept, children: here ? [...children, ...moved] : children };
  };
  return tidy(put(without(tree)));
}

// A new group, beside the first chosen node, that holds all chosen ones.
export function group(tree, paths, label) {
  const first = paths[0], above = first.slice(0, -1);
  const parent = at(tree, above);
  const created = { label, children: [] };
  const opened = change(tree, above, (node) => ({ ...node, children: [...node.children, created] }));
  return move(opened, paths, [...above, parent.children.length]);
}

// Groups made one: the first keeps its name and gets the children of the others.
export function merge(tree, paths) {
  const [first, ...others] = paths;
  const children = others.map((path) => at(tree, path)).flatMap((node) => node.children);
  const gone = new Set(others.map((path) => at(tree, path)));
  const kept = at(tree, first);
  const rebuilt = (node) => {
    if (gone.has(node)) return null;
    if (!node.children) return node;
    const below = node.children.map(rebuilt).filter(Boolean);
    return { ...node, children: node === kept ? [...below, ...children] : below };
  };
  return tidy(rebuilt(tree));
}

// Some children of one group, put into a new group beside it.
export function split(tree, paths, label) {
  const above = paths[0].slice(0, -1), beside = above.slice(0, -1);
  const created = { label, children: [] };
  const opened = change(tree, beside, (node) => ({ ...node, children: [...node.children, created] }));
  return move(opened, paths, [...beside, at(tree, beside).children.length]);
}

// A group taken apart: its children go to the level above.
export function dissolve(tree, path) {
  const place = path.at(-1);
  return change(tree, path.slice(0, -1), (parent) => ({ ...parent, children: parent.children.flatMap((child, order) => (order === place && child.children ? child.children : [child])) }));
}

// Values put below the root, or below a group.
export const add = (tree, labels, path = []) => change(tree, path, (node) => ({ ...node, children: [...(node.children ?? []), ...labels.map((label) => ({ label }))] }));

// Lines as ARX reads them: the value first, the root last; shorter branches repeat their last label.
export function toLines(tree) {
  const rows = [];
  const walk = (node, above) => (node.children ? node.children.forEach((child) => walk(child, [node.label, ...above])) : rows.push([node.label, ...above]));
  walk(tree, []);
  const long = Math.max(...rows.map((row) => row.length));
  const quoted = (text) => (/[;"\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => [...Array(long - row.length).fill(row[0]), ...row].map(quoted).join(";")).join("\n") + "\n";
}

// All groups with the way to them, for a list to choose from.
export function groups(tree, path = [], depth = 0) {
  if (!tree.children) return [];
  return [{ label: tree.label, path, depth }, ...tree.children.flatMap((child, place) => groups(child, [...path, place], depth + 1))];
}
