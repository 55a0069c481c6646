"use strict";

// The pages are whole without this script. It adds a search over all units, and a button that opens all objects.
(() => {
  const MOST = 200;
  const byId = (id) => document.getElementById(id);

  const element = (name, content, attributes = {}) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...[content].flat());
    return made;
  };

  const badges = (unit) =>
    [["error", unit.errors], ["warning", unit.warnings], ["note", unit.notes]]
      .filter(([, count]) => count)
      .flatMap(([name, count]) => [
        element("span", `${count} ${name}${count === 1 ? "" : "s"}`, { class: `badge ${name}` }),
        " ",
      ]);

  const read = ([namespace, name, kind, page, replicas, cpu, memory, gpus, hasGpus, errors, warnings, notes, change]) =>
    ({ namespace, name, kind, page, replicas, cpu, memory, gpus, hasGpus, errors, warnings, notes, change,
       words: `${namespace}/${name} ${kind}`.toLowerCase() });

  const FINDINGS = {
    "": () => true,
    warning: (unit) => unit.errors + unit.warnings > 0,
    note: (unit) => unit.notes > 0,
    none: (unit) => unit.errors + unit.warnings + unit.notes === 0,
  };

  const wanted = () => {
    const value = (id) => (byId(id) ? byId(id).value : "");
    const words = value("search").toLowerCase().split(/\s+/).filter(Boolean);
    const [kind, namespace, gpu, change] = ["kind", "namespace", "gpu", "change"].map(value);
    const finding = FINDINGS[value("finding")];
    const active = words.length || kind || namespace || gpu || change || value("finding");
    const fits = (unit) =>
      words.every((word) => unit.words.includes(word)) &&
      (!kind || unit.kind === kind) &&
      (!namespace || unit.namespace === namespace) &&
      (!gpu || unit.hasGpus === (gpu === "yes")) &&
      (!change || Boolean(unit.change) === (change === "yes")) &&
      finding(unit);
    return { active, fits };
  };

  const row = (unit, columns) => {
    const root = document.body.dataset.root;
    const cells = [unit.namespace, unit.kind, unit.replicas, unit.cpu, unit.memory, unit.hasGpus ? unit.gpus : "",
                   badges(unit), unit.change].slice(0, columns - 1);
    const head = element("th", element("a", unit.name, { href: root + unit.page }), { scope: "row" });
    return element("tr", [head, ...cells.map((cell) => element("td", cell))]);
  };

  const show = (units) => {
    const { active, fits } = wanted();
    const matches = active ? units.filter(fits) : [];
    const found = byId("found");
    found.hidden = !active;
    byId("all").hidden = Boolean(active);
    if (active) {
      const table = byId("units").cloneNode(true);
      table.id = "matching";
      table.tBodies[0].replaceChildren(
        ...matches.slice(0, MOST).map((unit) => row(unit, table.tHead.rows[0].cells.length)));
      found.replaceChildren(
        element("div", table, { class: "wide", role: "region", "aria-label": "Units that match", tabindex: "0" }));
    }
    const more = matches.length > MOST ? `, the first ${MOST} are shown` : "";
    byId("matches").textContent = active ? `${matches.length} of ${units.length} units${more}` : "";
  };

  const search = () => {
    const form = document.querySelector(".filters");
    if (!form || !window.kservecUnits) return;
    const units = window.kservecUnits.map(read);
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    // Not "change": it comes when a click on a result leaves the field, and would take the result away under the click.
    form.addEventListener("input", () => show(units));
    show(units);
  };

  const expand = () => {
    const button = byId("expand");
    const objects = [...document.querySelectorAll("details.object")];
    if (!button || objects.length === 0) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-pressed") !== "true";
      for (const object of objects) object.open = open;
      button.setAttribute("aria-pressed", String(open));
      button.textContent = open ? "Collapse all" : "Expand all";
    });
  };

  // A line in a closed object is shown when an address leads to it.
  const reveal = () => {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    const object = target && target.closest("details");
    if (object && !object.open) {
      object.open = true;
      target.scrollIntoView();
    }
  };

  search();
  expand();
  reveal();
  window.addEventListener("hashchange", reveal);
})();
