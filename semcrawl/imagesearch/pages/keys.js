// "/" goes to the search box, arrows go through the images; all else is the browser's.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const box = document.querySelector("input[type=search]");
  const here = document.activeElement;
  if (event.key === "/" && here !== box) {
    event.preventDefault();
    box.focus();
    box.select();
    return;
  }
  const links = [...document.querySelectorAll(".grid a")];
  if (!links.length) return;
  const place = links.indexOf(here);
  if (here === box) {
    if (event.key !== "ArrowDown") return;
  } else if (place < 0 && here !== document.body && here !== document.querySelector("main")) return;
  const top = links[0].getBoundingClientRect().top;
  const columns = links.filter((one) => Math.abs(one.getBoundingClientRect().top - top) < 4).length;
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  if (!(event.key in steps)) return;
  const next = place < 0 ? 0 : place + steps[event.key];
  if (next < 0 && event.key === "ArrowUp") {
    event.preventDefault();
    box.focus();
  } else if (links[next]) {
    event.preventDefault();
    links[next].focus();
  }
});
