const o=n=>n==="any"?"any zone":n;export{o as z};
